fn pick(values: &[i32], index: usize) -> i32 {
    values[index]
}

fn main() {
    pick(&[1, 2], std::env::args().count() + 4);
}
