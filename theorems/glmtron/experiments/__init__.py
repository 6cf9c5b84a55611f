"""Experiments, tables and prose of document 003."""
