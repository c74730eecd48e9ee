"""Of the pages, pytest runs those that are written here; the build of the site copies others here."""

collect_ignore_glob = ["troubleshooting/*", "_build/*"]  # tests/app/test_troubleshooting.py runs them where they lie
