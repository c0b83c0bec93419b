import test from 'ava';
import { drawLines } from '../../../src/svg/draw-lines.ts';

const figure = {
  title: 'a < b & c', across: 'maxPR', up: 'speedup', ticks: ['1', '2', '3'],
  lines: [{ label: 'one', values: [1, 2, 4] }, { label: 'two', values: [0.5, NaN, 0] }],
};

test('a figure is well-formed, with a line and a legend for each, and text escaped', (t) => {
  const svg = drawLines(figure);
  t.regex(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  t.true(svg.endsWith('</svg>\n'));
  t.is(svg.match(/<polyline /g)?.length, 2);
  t.true(svg.includes('>a &lt; b &amp; c<'));
  for (const name of ['one', 'two', 'maxPR', 'speedup']) t.true(svg.includes(`>${name}<`));
  t.is(svg.match(/<text/g)?.length, svg.match(/<\/text>/g)?.length);
});

test('values without a logarithm are left out', (t) => {
  const svg = drawLines(figure);
  t.is(svg.match(/<circle /g)?.length, 4);
  t.false(/NaN|Infinity/.test(svg));
});

test('greater values stand higher, and all stand inside the frame', (t) => {
  const heights = [...drawLines(figure).matchAll(/cy="([\d.]+)"/g)].map(([, y]) => Number(y));
  t.deepEqual(heights.slice(0, 3), [...heights.slice(0, 3)].sort((one, other) => other - one));
  t.true(heights.every((y) => y > 40 && y < 360));
});

test('a figure without values is drawn', (t) => {
  t.notThrows(() => drawLines({ ...figure, lines: [] }));
  t.false(/NaN|Infinity/.test(drawLines({ ...figure, lines: [] })));
});
