"""Reports: findings → self-contained HTML pages and charts.

`audit_page` and `write_report` are in audit_page.py, the other reports in pages.py. page.py renders a template,
exports.py makes the CSV files and those of gates, charts.py and share_charts.py draw, and views.py shows results in
notebooks.
"""
