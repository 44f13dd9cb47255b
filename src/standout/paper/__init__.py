"""Reproduce every figure and table of the paper and compare the numbers with the paper's own.

Entry point: `reproduce.reproduce`, which returns a `reproduction.Reproduction`. Read the files in this order:

paper_results        the numbers of the paper: bars, and the curve of nearest neighbours
comparison_rows      one number of the paper, the measured number, and whether they agree
attack_runner        runs the attacks, each only once
figure, figures      what a figure is; the list of all figures
data_figures         the figures about the data: 7 to 10, 12 and the table
profile_figure       the section on IMDb
qualifying_entries   the contest's test entries, for Figures 7 to 9
item_bits            the bits that one item gives away, for Figure 10
readings             other interpretations of the paper's text, in bit_readings, neighbour_readings and
                     film_readings
standin              the synthetic data that replaces the Netflix Prize data
reproduce            computes everything, with results in result_cache; the result is a reproduction
sentences            everything that is said in words; number_text formats the numbers
figures_page         index.html; output_files writes it and all other files
"""
