"""What `haichi run --record` wrote of a run: read, shown as text and as a page."""
