import unittest

from pager import page_links, paginate, render_links


class Links(unittest.TestCase):
    def test_gaps_are_marked(self):
        self.assertEqual(page_links(5, 9), [1, None, 4, 5, 6, None, 9])

    def test_few_pages_have_no_gaps(self):
        self.assertEqual(page_links(2, 3), [1, 2, 3])

    def test_the_current_page_is_in_brackets(self):
        self.assertEqual(render_links(paginate(list(range(30)), number=1, size=10)), "[1] 2 3")


if __name__ == "__main__":
    unittest.main()
