public class Uncaught {
    static int parse(String text) {
        return Integer.parseInt(text);
    }

    public static void main(String[] args) {
        parse("twelve");
    }
}
