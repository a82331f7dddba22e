function parse(row) {
  return row.price.amount;
}

parse({});
