import test from 'ava';
import { drawBars, type BarFigure } from '../../../src/svg/draw-bars.ts';

const figure: BarFigure = {
  title: 'a < b & c',
  up: 'seconds',
  groups: ['first', 'second'],
  marks: 'elsewhere',
  bars: [
    { label: 'one', group: 0, value: 400, halfInterval: 20 },
    { label: 'two', group: 1, value: 800, halfInterval: Infinity, mark: 900 },
  ],
};

test('a figure has a bar for each value, a diamond for each mark and one in the legend, and its text escaped', (t) => {
  const svg = drawBars(figure);
  t.is(svg.match(/class="bar"/g)?.length, 2);
  t.is(svg.match(/<path /g)?.length, 2);
  t.true(svg.includes('>a &lt; b &amp; c<'));
  for (const name of ['one', 'two', 'first', 'second', 'elsewhere', 'seconds'])
    t.is(svg.split(`>${name}<`).length, 2, name);
  t.false(/NaN|Infinity/.test(svg));
});

test('twice the value is twice the height, and a mark above all bars is inside', (t) => {
  const svg = drawBars(figure);
  const [one, two] = [...svg.matchAll(/class="bar"[^>]* height="([\d.]+)"/g)].map(([, height]) => Number(height));
  t.true(Math.abs((two ?? 0) - 2 * (one ?? 0)) < 0.2);
  const [mark] = [...svg.matchAll(/<path d="M[\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
  t.true((mark ?? 0) > 44);
});

test('bars of one label are drawn together on request, with the label once below them, and apart from the next', (t) => {
  const bars = ['one', 'two'].flatMap((label) =>
    [0, 1].map((group) => ({ label, group, value: 400, halfInterval: 20 })),
  );
  const svg = drawBars({ ...figure, bars, isClustered: true });
  const [first, second, third] = [...svg.matchAll(/class="bar" x="([\d.]+)"/g)].map(([, x]) => Number(x)) as [
    number,
    number,
    number,
    number,
  ];
  t.true(third - second > 1.5 * (second - first));
  const width = Number(/class="bar"[^>]* width="([\d.]+)"/.exec(svg)?.[1]);
  t.true(width < second - first);
  for (const label of ['one', 'two']) t.is(svg.split(`>${label}<`).length, 2, label);
});
