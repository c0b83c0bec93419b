import type { TaskTimes } from '../../schema/index.ts';

const [width, height] = [1000, 180];

/** Draws the distribution of task times as SVG: a bar for each bin, runs without an accepted result on top. */
export function drawTimesSvg({ bins }: TaskTimes): string {
  const most = bins.reduce((tallest, { accepted, other }) => Math.max(tallest, accepted + other), 1);
  const step = width / Math.max(1, bins.length);
  const bars = bins.map(({ accepted, other }, index) => {
    const [low, high] = [(accepted * (height - 30)) / most, (other * (height - 30)) / most];
    const at = `x="${Math.round(index * step * 10) / 10}" width="${Math.round((step - 1) * 10) / 10}"`;
    return `<rect ${at} y="${height - 15 - low}" height="${low}" fill="#009e73"/><rect ${at} y="${height - 15 - low - high}" height="${high}" fill="#e69f00"/>`;
  });
  const last = bins.at(-1);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="10" role="img"><title>Task times</title>`, ...bars,
    `<text x="0" y="${height - 2}">0 s</text><text x="${width}" y="${height - 2}" text-anchor="end">${(last?.until_ms ?? 0) / 1000} s</text></svg>`,
  ].join('\n');
}
