import test from 'ava';
import { drawPanels, type PanelFigure, type PanelLine } from '../../../src/svg/draw-panels.ts';

const one: PanelLine = { label: 'one', look: { colour: 0, mark: 0 }, values: [1, 2, 4] };
const two: PanelLine = { label: 'two', look: { colour: 1, mark: 1 }, values: [0.5, NaN, 0] };
const figure: PanelFigure = {
  title: 'a < b & c',
  across: 'maxPR',
  up: 'speedup',
  ticks: ['1', '2', '3'],
  panels: [
    { title: 'left', lines: [one, two] },
    { title: 'right', lines: [one] },
  ],
  panelsAcross: 2,
  legendColumns: 2,
};

test('a figure is well-formed, with its panels, a line for each, text escaped, and a legend entry for each label', (t) => {
  const svg = drawPanels(figure);
  t.regex(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  t.true(svg.endsWith('</svg>\n'));
  t.is(svg.match(/<polyline /g)?.length, 2);
  t.true(svg.includes('>a &lt; b &amp; c<'));
  for (const name of ['one', 'two', 'maxPR', 'speedup', 'left', 'right']) t.is(svg.split(`>${name}<`).length, 2, name);
  t.is(svg.match(/<text/g)?.length, svg.match(/<\/text>/g)?.length);
});

test('values without a logarithm are left out', (t) => {
  const svg = drawPanels(figure);
  t.is(svg.match(/class="mark"/g)?.length, 3 + 1 + 3 + 2);
  t.false(/NaN|Infinity/.test(svg));
});

test('a line is broken where a value is missing', (t) => {
  const svg = drawPanels({
    ...figure,
    ticks: ['1', '2', '3', '4', '5'],
    panels: [{ title: 'left', lines: [{ ...one, values: [1, 2, NaN, 3, 4] }] }],
  });
  t.deepEqual(
    [...svg.matchAll(/points="([^"]*)"/g)].map(([, points]) => points!.split(' ').length),
    [2, 2],
  );
});

test('panels share an axis, or have one each', (t) => {
  const panels = [
    { title: 'left', lines: [one] },
    { title: 'right', lines: [{ ...one, values: [1, 20, 100] }] },
  ];
  const shared = drawPanels({ ...figure, panels });
  const own = drawPanels({ ...figure, panels, hasOwnAxes: true });
  t.is(shared.split('>1<').length - 1, 1 + 2);
  t.is(own.split('>1<').length - 1, 2 + 2);
  t.is(own.split('>50<').length - 1, 1);
});

test('greater values are drawn higher, and all are inside the frame', (t) => {
  const heights = [...drawPanels(figure).matchAll(/<circle cx="[\d.]+" cy="([\d.]+)"/g)].map(([, y]) => Number(y));
  t.deepEqual(
    heights.slice(0, 3),
    [...heights.slice(0, 3)].sort((left, right) => right - left),
  );
  t.true(heights.slice(0, 6).every((y) => y > 68 && y < 368));
});

test('the line at 1 is darker than the others', (t) => {
  const svg = drawPanels(figure);
  t.is(svg.match(/stroke="#52606d" stroke-width="1.4"/g)?.length, 2);
  t.true((svg.match(/stroke="#e4e7eb"/g)?.length ?? 0) > 2);
});

test('lines that look alike have one colour, dash and mark; others differ in one of them', (t) => {
  const looks = [0, 1, 2, 3].flatMap((colour) =>
    [0, 1, 2].map((mark) => ({ ...one, label: `${colour} ${mark}`, look: { colour, mark } })),
  );
  const svg = drawPanels({ ...figure, panels: [{ title: 'left', lines: looks }], panelsAcross: 1 });
  t.is(new Set([...svg.matchAll(/<polyline fill="none" (.*) points/g)].map(([, look]) => look)).size, 12);
});

const getBands = (svg: string): number[][][] =>
  [...svg.matchAll(/<polygon class="interval"[^>]* points="([^"]*)"/g)].map(([, points]) =>
    points!.split(' ').map((point) => point.split(',').map(Number)),
  );

test('intervals are bands around lines, inside the frame also where they reach below 0; a value alone has a bar', (t) => {
  const lines = [
    { ...one, halfIntervals: [0.5, 10, NaN] },
    { ...two, values: [1, NaN, 4], halfIntervals: [0.5, 0.5, 0.5] },
  ];
  const svg = drawPanels({ ...figure, panels: [{ title: 'left', lines }], panelsAcross: 1 });
  const [band, ...others] = getBands(svg);
  t.is(others.length, 0);
  t.is(band?.length, 4, 'there and back over two values');
  for (const [, y] of band!) t.true(y! >= 68 && y! <= 368);
  t.is(svg.match(/<line class="interval"/g)?.length, 2);
  t.false(/NaN|Infinity/.test(svg));
});

test('lines with intervals stand where their values are, one above the other at each position', (t) => {
  const lines = [
    { ...one, halfIntervals: [0.1, 0.1, 0.1] },
    { ...one, label: 'three', values: [2, 4, 8], halfIntervals: [0.1, 0.1, 0.1] },
  ];
  const svg = drawPanels({ ...figure, panels: [{ title: 'left', lines }], panelsAcross: 1 });
  const across = [...svg.matchAll(/<polyline [^>]*points="([^"]*)"/g)].map(([, points]) =>
    points!.split(' ').map((point) => point.split(',')[0]),
  );
  t.is(across.length, 2);
  t.deepEqual(across[0], across[1]);
});

test('positions are drawn to scale if their numbers are known, and otherwise equally far apart', (t) => {
  const getAcross = (positions?: number[]): number[] => {
    const svg = drawPanels({
      ...figure,
      panels: [{ title: 'left', lines: [one] }],
      panelsAcross: 1,
      ...(positions === undefined ? {} : { positions }),
    });
    return [.../<polyline [^>]*points="([^"]*)"/.exec(svg)![1]!.split(' ')].map((point) => Number(point.split(',')[0]));
  };
  const listSteps = ([first, second, third]: number[]): number => (third! - second!) / (second! - first!);
  t.true(Math.abs(listSteps(getAcross()) - 1) < 0.01);
  t.true(Math.abs(listSteps(getAcross([50, 100, 400])) - 6) < 0.05);
  t.deepEqual([getAcross([50, 100, 400])[0], getAcross([50, 100, 400])[2]], [getAcross()[0], getAcross()[2]]);
  t.deepEqual(getAcross([7, 7, 7]), getAcross());
});

test('zeros have a row of their own below a logarithmic axis where that is wanted, below every other value and joined to none', (t) => {
  const lines = [
    { ...one, values: [0.001, 0, 4] },
    { ...two, values: [0, 2, 0], isUnjoined: true },
  ];
  const svg = drawPanels({ ...figure, panels: [{ title: 'left', lines }], panelsAcross: 1, hasZeroRow: true });
  const heights = [...svg.matchAll(/<circle cx="[\d.]+" cy="([\d.]+)"/g)].map(([, y]) => Number(y)).slice(0, 3);
  t.true(heights[1]! > heights[0]! && heights[0]! > heights[2]!);
  t.is(svg.match(/class="mark"/g)?.length, 3 + 3 + 2);
  t.is(svg.match(/<polyline /g), null);
  t.is(svg.split('>0<').length - 1, 1);
});

test('rows of panels stand below each other, and the legend below them', (t) => {
  const svg = drawPanels({ ...figure, panelsAcross: 1 });
  const [left, right, legend] = ['left', 'right', 'two'].map((name) =>
    Number(new RegExp(`y="([\\d.]+)"[^>]*>${name}<`).exec(svg)?.[1]),
  );
  t.true(left! < right! && right! < legend!);
});

test('a figure without values is drawn', (t) => {
  t.false(/NaN|Infinity/.test(drawPanels({ ...figure, panels: [] })));
});
