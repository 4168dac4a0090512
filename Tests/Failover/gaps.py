"""Pauses in what is consumed, from the moments at which it was."""


def longest_pause(moments, since, until):
    """The longest time between `since` and `until` in which nothing was consumed, and how long after `since` it ended.

    Both ends of the window count as moments: a queue that never resumes has paused until the end.
    """
    inside = sorted(moment for moment in moments if since < moment < until)
    marks = [since, *inside, until]
    longest, end = 0.0, 0.0
    for before, after in zip(marks, marks[1:]):
        if after - before > longest:
            longest, end = after - before, after - since
    return longest, end


def first_after(moments, since):
    """Seconds until the first moment after `since`; None when there is none."""
    later = [moment for moment in moments if moment > since]
    return min(later) - since if later else None


def missing_numbers(numbers):
    """What is missing in a sequence that begins with 1, and what is there twice."""
    seen = set()
    double = set()
    for number in numbers:
        (double if number in seen else seen).add(number)
    return sorted(set(range(1, max(seen, default=0) + 1)) - seen), sorted(double)
