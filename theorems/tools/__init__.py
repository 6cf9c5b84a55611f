"""What checkers share, whichever document they judge: exact laws, programmes, curves, searches, boxes. No claims."""
