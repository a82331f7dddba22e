import unittest

import shop


class ShopCase(unittest.TestCase):
    def test_total(self):
        self.assertEqual(shop.total([{"price": 2}]), 3)

    def test_of_missing_price(self):
        shop.total([{"cost": 2}])


if __name__ == "__main__":
    unittest.main()
