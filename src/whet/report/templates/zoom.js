for (const svg of document.querySelectorAll("svg.flame")) {
  const width = svg.viewBox.baseVal.width;
  const boxes = [...svg.querySelectorAll("g")];
  const show = (left, wide, row) => {
    for (const box of boxes) {
      const [x, w, r] = [+box.dataset.x, +box.dataset.w, +box.dataset.r];
      const isAbove = r < row && x <= left + 0.01 && x + w >= left + wide - 0.01;
      const isInside = x >= left - 0.01 && x + w <= left + wide + 0.01 && r >= row;
      box.style.display = isAbove || isInside ? "" : "none";
      const at = isAbove ? 0 : ((x - left) / wide) * width;
      const size = isAbove ? width : (w / wide) * width;
      const [rect, text] = [box.querySelector("rect"), box.querySelector("text")];
      rect.setAttribute("x", at);
      rect.setAttribute("width", Math.max(size - 0.4, 0.3));
      rect.style.opacity = isAbove ? 0.5 : 1;
      text.setAttribute("x", at + 4);
      const letters = Math.floor((size - 8) / 6.6);
      const name = box.dataset.n;
      text.textContent = name.length <= letters ? name : letters > 2 ? name.slice(0, letters - 1) + "…" : "";
    }
  };
  for (const box of boxes) {
    box.addEventListener("click", () => show(+box.dataset.x, +box.dataset.w, +box.dataset.r));
  }
}
