"""Log-log plots as SVG: a handful of lines, ticks at 1, 2, 5, labelled axes, names beside the ends of the lines."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 40, 54
COLOURS = ("#1f6fb4", "#d1495b", "#3a7d44", "#8d5a97", "#b5651d")


def number(value):
    return f"{value:g}" if value < 10000 else f"{value:,.0f}"


def ticks(low, high):
    """Values of the form 1, 2 or 5 times a power of ten from low to high."""
    found = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        found += [digit * 10.0**power for digit in (1, 2, 5) if low <= digit * 10.0**power * 1.0001 <= high * 1.0002]
    return found


def loglog(title, x_label, y_label, series, x_ticks=None):
    """`series` is (name, [(x, y)], dashed); the text of an SVG file."""
    xs = [x for _, points, _ in series for x, _ in points]
    ys = [y for _, points, _ in series for _, y in points]
    x_low, x_high = min(xs), max(xs)
    if x_low == x_high:
        x_low, x_high = x_low / 2, x_high * 2
    y_low, y_high = min(ys) / 1.3, max(ys) * 1.3

    def place_x(x):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / x_low) / math.log(x_high / x_low)

    def place_y(y):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(y / y_low) / math.log(y_high / y_low)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" font-size="12" fill="#222">',
             f"<title>{escape(title)}</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
             f'<text x="{LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>']
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for x in x_ticks or ticks(x_low, x_high):
        at = f"{place_x(x):.1f}"
        parts.append(f'<path d="M{at} {TOP}V{bottom}" stroke="#e4e4e4"/>'
                     f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">{number(x)}</text>')
    for y in ticks(y_low, y_high):
        at = f"{place_y(y):.1f}"
        parts.append(f'<path d="M{LEFT} {at}H{right}" stroke="#e4e4e4"/>'
                     f'<text x="{LEFT - 8}" y="{float(at) + 4:.1f}" text-anchor="end">{number(y)}</text>')
    parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#555"/>')
    parts.append(f'<text x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>')
    middle = (TOP + bottom) / 2
    parts.append(f'<text x="18" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 18 {middle:.0f})">'
                 f"{escape(y_label)}</text>")

    ends = []
    for index, (name, points, dashed) in enumerate(series):
        colour = COLOURS[index % len(COLOURS)]
        path = "M" + "L".join(f"{place_x(x):.1f} {place_y(y):.1f}" for x, y in points)
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"'
                     + (' stroke-dasharray="6 4"/>' if dashed else "/>"))
        if not dashed:
            parts += [f'<circle cx="{place_x(x):.1f}" cy="{place_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        ends.append([place_y(points[-1][1]), name, colour])
    # Names that would overlap move apart.
    ends.sort()
    for above, below in zip(ends, ends[1:]):
        below[0] = max(below[0], above[0] + 15)
    excess = max(0, ends[-1][0] - bottom)
    parts += [f'<text x="{right + 8}" y="{at - excess + 4:.1f}" fill="{colour}">{escape(name)}</text>'
              for at, name, colour in ends]
    return "\n".join(parts + ["</svg>"]) + "\n"
