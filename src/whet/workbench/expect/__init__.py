"""What a person expects of a program, stated before it runs, beside what came."""
