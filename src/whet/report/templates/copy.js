for (const pre of document.querySelectorAll("pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const lines = [...pre.querySelectorAll(".src")].map((line) => line.textContent);
    const text = lines.length ? lines.join("\n") : pre.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  const holder = document.createElement("div");
  holder.className = "held";
  pre.replaceWith(holder);
  holder.append(pre, button);
}
