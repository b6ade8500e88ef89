import unittest

from pager import page_count, paginate


class PageCount(unittest.TestCase):
    def test_items_that_fill_their_pages(self):
        self.assertEqual(page_count(20, 10), 2)

    def test_an_empty_sequence_has_one_page(self):
        self.assertEqual(page_count(0, 10), 1)

    def test_items_left_over_get_a_page_of_their_own(self):
        self.assertEqual(page_count(21, 10), 3)

    def test_a_size_below_one_is_refused(self):
        with self.assertRaises(ValueError):
            page_count(5, 0)


class Paginate(unittest.TestCase):
    def test_the_first_page(self):
        page = paginate("abcdef", number=1, size=3)
        self.assertEqual(page.items, ["a", "b", "c"])
        self.assertFalse(page.has_previous)
        self.assertTrue(page.has_next)

    def test_a_page_that_does_not_exist(self):
        with self.assertRaises(IndexError):
            paginate("abc", number=2, size=3)


if __name__ == "__main__":
    unittest.main()
