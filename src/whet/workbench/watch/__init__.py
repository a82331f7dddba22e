"""`whet watch`: panels that each show one signal, beside a program or on their own."""
