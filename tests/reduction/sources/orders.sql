-- a shop
BEGIN TRANSACTION;
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, CHECK (id > 0));
INSERT INTO users (id, name, email) VALUES (1, 'Ann; o''Hara', 'a@x'), (2, 'Bob', NULL), (3, 'Cid (x', 'c@x');
CREATE TABLE orders (id INTEGER, user_id INTEGER REFERENCES users(id), total REAL);
INSERT INTO orders VALUES (1, 1, 9.5), (2, 1, 3.25), (3, 3, 0);
CREATE TRIGGER t AFTER INSERT ON orders BEGIN
    UPDATE users SET name = 'x' WHERE id = new.user_id;
    DELETE FROM orders WHERE total < 0;
END;
/* the query; */
SELECT u.name, SUM(o.total) AS t FROM users u LEFT JOIN orders o ON o.user_id = u.id
WHERE u.id > 0 AND (u.name LIKE 'A%' OR u.email IS NOT NULL) GROUP BY u.name ORDER BY t DESC LIMIT 10;
COMMIT;
