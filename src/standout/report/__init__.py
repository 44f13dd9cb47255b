"""Reports: findings → self-contained HTML pages and charts.

The entry points are `audit_page` and `write_report` in audit_page.py; linking_page.py and advice_page.py are the other
reports. page.py renders a template, frames.py makes the CSV files, charts.py and interval_charts.py draw, and views.py
shows results in notebooks.
"""
