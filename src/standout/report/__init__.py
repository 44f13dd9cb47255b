"""Reports: findings → self-contained HTML pages and charts.

The entry points are `audit_page` and `write_report` in audit_page.py; linking_page.py and advice_page.py are
the other reports. html_page.py renders a template, figures.py holds charts with their tables, and charts.py
and interval_charts.py draw. audit_output.py holds what the results of both audits have in common.
safe_tables.py writes CSV files that a spreadsheet cannot execute.
"""
