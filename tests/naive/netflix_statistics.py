"""Reference implementation of the published statistics of the Netflix Prize data."""

import math
from collections import Counter
from itertools import combinations
from statistics import correlation, fmean, pstdev, stdev

from naive.bits import bits_of_nearness
from naive.release import outside_top, ranks

__all__ = ["NetflixStatistics", "quantile", "shared_ranks"]


class NetflixStatistics:
    """Every statistic by loops and dicts: {group: {statistic: number}}.

    entries            {(record, item): (value, date)}
    published_support  the published support of each rank
    scale              number of people, relative to the Netflix Prize data
    last_day           the last day of the Netflix Prize data
    rare               the first and last rank of rare films
    """

    def __init__(self, entries, published_support, scale, last_day, rare):
        self.entries, self.published_support, self.scale = entries, published_support, scale
        self.last_day, self.rare = last_day, rare
        self.people, self.films = {}, {}
        for (record, item), cell in entries.items():
            self.people.setdefault(record, []).append(cell)
            self.films.setdefault(item, []).append(cell)
        self.n, self.rank = len(self.people), ranks(entries)
        self.values = [value for value, _ in entries.values() if value is not None]
        self.times = [time for _, time in entries.values() if time is not None]
        falling = sorted(map(len, self.films.values()), reverse=True)
        self.support = falling + [0] * (len(published_support) - len(falling))
        self.is_full = scale >= 0.99

    def groups(self):
        groups = {
            "ratings of a person": self.lengths(),
            "ratings of a film": self.supports(),
            "support by rank": self.supports_by_rank(),
        }
        if len(self.films) > 100:
            groups["films outside the most rated"] = self.films_outside_top()
        if self.is_full:
            groups["sizes"] = {"people": self.n, "films": len(self.films), "ratings": len(self.entries)}
        if self.values:
            groups["ratings"] = self.ratings()
            groups["a person's mean rating"] = self.person_means()
            groups["a film's mean rating"] = self.film_means()
        if self.times:
            groups["dates of ratings"] = self.dates()
            groups["two ratings of a person"] = self.bursts()
            groups |= self.first_and_last_days()
        if self.values or self.times:
            groups["bits added to those of a film"] = self.added_bits()
        return groups

    def lengths(self):
        n = sorted(map(len, self.people.values()))
        numbers = {"mean": fmean(n), "standard deviation": pstdev(n)}
        numbers |= {_quantile_name(percent): quantile(n, percent / 100) for percent in (25, 50, 75, 90, 99)}
        numbers["share of people with 1"] = n.count(1) / len(n)
        numbers["share of people with fewer than 10"] = sum(x < 10 for x in n) / len(n)
        for percent in (1, 5, 10):
            top = n[-max(round(len(n) * percent / 100), 1) :]
            numbers[f"share of the most active {percent} %"] = sum(top) / sum(n)
        return numbers | ({"fewest": n[0], "most": n[-1]} if self.is_full else {})

    def ratings(self):
        counts = Counter(self.values)
        numbers = {f"share of {star}": counts[star] / len(self.values) for star in range(1, 6)}
        return numbers | {"mean": fmean(self.values), "standard deviation": pstdev(self.values)}

    def person_means(self):
        rated = [[value for value, _ in cells if value is not None] for cells in self.people.values()]
        means = [fmean(values) for values in rated if values]
        within = [stdev(values) for values in rated if len(values) > 1]
        return {
            "mean": fmean(means),
            "standard deviation": pstdev(means),
            "deviation within a person, mean": fmean(within),
        }

    def supports(self):
        numbers = {
            f"{_quantile_name(percent)}, share of people": quantile(self.support, percent / 100) / self.n
            for percent in (25, 50, 75, 90, 99)
        }
        numbers["most, share of people"] = self.support[0] / self.n
        numbers["standard deviation ÷ mean"] = pstdev(self.support) / fmean(self.support)
        for top in (100, 500, 1000, 2000, 5000):
            numbers[f"share of the {top:,} most rated"] = sum(self.support[:top]) / sum(self.support)
        least = min(support for support in self.support if support)
        return numbers | ({"fewest": least} if self.is_full else {})

    def supports_by_rank(self):
        support = [max(support, 0.5) for support in self.support]
        numbers = {
            f"bits of the film of rank {rank:,}": -math.log2(support[rank - 1] / self.n)
            for rank in (1, 10, 100, 500, 1000, 5000, 10_000)
        }
        ratios = [
            abs(math.log(ours / (theirs * self.scale)))
            for ours, theirs in zip(support, self.published_support, strict=True)
        ]
        all_ranks = f"|ln ratio|, ranks 1 to {len(ratios):,}"
        return numbers | {f"mean {all_ranks}": fmean(ratios), f"largest {all_ranks}": max(ratios)}

    def film_means(self):
        rated = {film: [value for value, _ in cells if value is not None] for film, cells in self.films.items()}
        rated = {film: values for film, values in rated.items() if values}
        means = [fmean(values) for values in rated.values()]
        squares = sum((value - fmean(values)) ** 2 for values in rated.values() for value in values)
        within = squares / (sum(map(len, rated.values())) - len(rated))
        noise = within * fmean(1 / len(values) for values in rated.values()) * (1 - self.scale)
        sd = math.sqrt(max(pstdev(means) ** 2 - noise, 0))
        supports = [len(self.films[film]) for film in rated]
        spearman = correlation(shared_ranks([round(mean, 12) for mean in means]), shared_ranks(supports))
        return {
            "mean": fmean(means),
            "standard deviation": sd,
            "Spearman with popularity": spearman * pstdev(means) / sd if sd else 0,
        }

    def films_outside_top(self):
        return {
            f"≥ {least} films outside the top {top:,}": share
            for top, shares in outside_top(self.entries).items()
            for least, share in shares.items()
        }

    def dates(self):
        n, numbers = len(self.times), {}
        if self.is_full:
            numbers[f"first, days before {self.last_day}"] = (self.last_day - min(self.times)).days
            numbers[f"last, days before {self.last_day}"] = (self.last_day - max(self.times)).days
        years = Counter(time.year for time in self.times)
        quarters = Counter((time.year, (time.month + 2) // 3) for time in self.times)
        weekdays = Counter(time.strftime("%A") for time in self.times)
        numbers |= {str(year): years[year] / n for year in range(2000, 2006)}
        for year in (2004, 2005):
            for quarter in (1, 2, 3, 4):
                numbers[f"{year}, quarter {quarter}"] = quarters[year, quarter] / n
        for name in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"):
            numbers[name] = weekdays[name] / n
        days = Counter(self.times)
        for reach in (14, 3):
            near = {
                day: sum(count for other, count in days.items() if abs((other - day).days) <= reach) for day in days
            }
            bits = [-math.log2(near[time] / n) for time in self.times]
            numbers[f"bits of a date ± {reach} days"] = fmean(bits)
        return numbers

    def first_and_last_days(self):
        times = [[time for _, time in cells if time is not None] for cells in self.people.values()]
        ends = [((self.last_day - min(days)).days, (self.last_day - max(days)).days) for days in times if days]
        first, last = zip(*ends, strict=True)
        span = [before - after for before, after in ends]
        return {
            f"first, last: days before {self.last_day}": {
                "first, median": quantile(first, 0.5),
                "first, 90 % quantile": quantile(first, 0.1),
                "last, median": quantile(last, 0.5),
            },
            "days from first to last rating": {
                "mean": fmean(span),
                **{_quantile_name(percent): quantile(span, percent / 100) for percent in (50, 90, 99)},
            },
        }

    def bursts(self):
        numbers = {"on the same day": self._share_of_pairs(0, 2, math.inf)}
        for reach in (14, 30, 90, 365):
            numbers[f"within {reach} days"] = self._share_of_pairs(reach, 2, math.inf)
        for low, high in ((2, 30), (30, 100), (100, 300), (300, 1000)):
            numbers[f"within 6 days, people with {low} to {high - 1}"] = self._share_of_pairs(6, low, high)
        numbers["within 6 days, people with ≥ 1,000"] = self._share_of_pairs(6, 1000, math.inf)
        return {name: number for name, number in numbers.items() if number is not None}

    def _share_of_pairs(self, reach, low, high):
        """Mean share of pairs within reach, over people with low … high - 1 dates; None if there is one."""
        times = [[time for _, time in cells if time is not None] for cells in self.people.values()]
        shares = [
            fmean(abs((day - other).days) <= reach for day, other in combinations(days, 2))
            for days in times
            if low <= len(days) < high
        ]
        return fmean(shares) if len(shares) > 1 else None

    def added_bits(self):
        numbers = {}
        for low, high in ((1, 100), self.rare):
            films = [cells for film, cells in self.films.items() if low <= self.rank[film] <= high]
            values = [[value for value, _ in cells if value is not None] for cells in films]
            days = [[time.toordinal() for _, time in cells if time is not None] for cells in films]
            for name, reach, known, is_there in (
                ("rating ± 1", 1, values, self.values),
                ("date ± 14 days", 14, days, self.times),
            ):
                if is_there:
                    bits = fmean(bits_of_nearness(numbers_of_film, reach) for numbers_of_film in known)
                    numbers[f"{name}, ranks {low:,} to {high:,}"] = bits
        return numbers


def quantile(numbers, share):
    """A quantile, interpolated linearly."""
    ordered, position = sorted(numbers), share * (len(numbers) - 1)
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    return low + (high - low) * (position - math.floor(position))


def shared_ranks(numbers):
    """Ranks from the smallest up; equal numbers share their mean rank."""
    return [sum(x < number for x in numbers) + (numbers.count(number) + 1) / 2 for number in numbers]


def _quantile_name(percent):
    return "median" if percent == 50 else f"{percent} % quantile"
