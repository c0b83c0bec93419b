// What of a drawing is drawn, which edge is pressed, and how a drawing is kept for the tab.
import fc from 'fast-check';
import test from 'ava';
import { DraftAutosave } from '../../../client/src/model/workflow/draft-autosave.ts';
import { edgePaths, findEdgeAt } from '../../../client/src/model/workflow/edge-lines.ts';
import { edgeId } from '../../../client/src/model/workflow/edits.ts';
import { emptyWorkflow, freshTask } from '../../../client/src/model/workflow/graph.ts';
import { areaInSight, findArea, isSameArea, tasksIn } from '../../../client/src/model/workflow/sight.ts';

const edge = (from: string, to: string): (typeof emptyWorkflow.edges)[number] => ({
  from,
  to,
  data_bytes: 0,
  share: 0,
});
const everywhere = { left: -1e6, top: -1e6, right: 1e6, bottom: 1e6 };
const unmarked = { dragged: new Map(), critical: new Set<string>(), selected: new Set<string>() };
const pair = {
  ...emptyWorkflow,
  tasks: [freshTask('a', 0, 0), freshTask('b', 0, 152), freshTask('far', 5000, 0)],
  edges: [edge('a', 'b')],
};

test('all that is in sight is drawn, and little more, whatever the zoom; a small move draws the same', (t) => {
  fc.assert(
    fc.property(
      fc.record({
        x: fc.integer({ min: -50_000, max: 50_000 }),
        y: fc.integer({ min: -50_000, max: 50_000 }),
        zoom: fc.double({ min: 0.03, max: 2, noNaN: true }),
      }),
      ({ x, y, zoom }) => {
        const area = areaInSight([x, y, zoom], { width: 900, height: 700 });
        t.true(
          area.left <= -x / zoom &&
            area.top <= -y / zoom &&
            area.right >= (900 - x) / zoom &&
            area.bottom >= (700 - y) / zoom,
        );
        t.true(area.right - area.left <= 1.51 * (900 / zoom));
      },
    ),
    { seed: 7, numRuns: 300 },
  );
  t.true(
    isSameArea(
      areaInSight([-10, -10, 1], { width: 900, height: 700 }),
      areaInSight([-20, -13, 1], { width: 900, height: 700 }),
    ),
  );
  t.false(
    isSameArea(
      areaInSight([0, 0, 1], { width: 900, height: 700 }),
      areaInSight([-400, 0, 1], { width: 900, height: 700 }),
    ),
  );
});

test('a box is in an area as soon as a part of it is', (t) => {
  t.deepEqual(
    tasksIn(pair.tasks, { left: 160, top: 50, right: 170, bottom: 60 }).map(({ id }) => id),
    ['a'],
  );
  t.deepEqual(tasksIn(pair.tasks, { left: 169, top: 0, right: 400, bottom: 400 }), []);
  t.deepEqual(findArea(pair.tasks), { left: 0, top: 0, right: 5168, bottom: 204 });
  t.is(findArea([]), undefined);
});

test('edges are drawn by how they look, those out of sight not at all, and those of a box that is dragged follow it', (t) => {
  const drawn = edgePaths(pair, { area: everywhere, ...unmarked });
  t.deepEqual(drawn, { plain: 'M84 52C84 102 84 102 84 152', critical: '', selected: '', count: 1 });
  t.is(edgePaths(pair, { area: { left: 200, top: 0, right: 300, bottom: 300 }, ...unmarked }).count, 0);
  t.is(edgePaths(pair, { area: everywhere, ...unmarked, critical: new Set([edgeId('a', 'b')]) }).critical, drawn.plain);
  t.is(
    edgePaths(pair, {
      area: everywhere,
      ...unmarked,
      critical: new Set([edgeId('a', 'b')]),
      selected: new Set([edgeId('a', 'b')]),
    }).selected,
    drawn.plain,
  );
  t.is(
    edgePaths(pair, { area: everywhere, ...unmarked, dragged: new Map([['a', { x: 100, y: 0 }]]) }).plain,
    'M184 52C184 102 84 102 84 152',
  );
  t.is(edgePaths({ ...pair, edges: [edge('a', 'gone')] }, { area: everywhere, ...unmarked }).count, 0);
});

test('a line that leads straight up passes the boxes between at their side, where it can be pressed', (t) => {
  const up = { ...pair, edges: [edge('b', 'a')] };
  t.regex(edgePaths(up, { area: everywhere, ...unmarked }).plain, /^M84 204C336 /);
  t.is(findEdgeAt(up, { x: 84, y: 100 }, 9), undefined);
  t.deepEqual(findEdgeAt(up, { x: 84 + 0.75 * 252, y: 102 }, 9), edge('b', 'a'));
});

test('a press takes the edge that is nearest, and none that is too far', (t) => {
  t.deepEqual(findEdgeAt(pair, { x: 88, y: 100 }, 9), pair.edges[0]);
  t.is(findEdgeAt(pair, { x: 95, y: 100 }, 9), undefined);
  const two = { ...pair, tasks: [...pair.tasks, freshTask('c', 60, 152)], edges: [edge('a', 'b'), edge('a', 'c')] };
  t.deepEqual(findEdgeAt(two, { x: 143, y: 148 }, 9), edge('a', 'c'));
});

class TextStore {
  readonly texts = new Map<string, string>();
  written: string[] = [];
  room = Infinity;
  getItem(name: string): string | null {
    return this.texts.get(name) ?? null;
  }
  setItem(name: string, text: string): void {
    if (text.length > this.room) throw new Error('full');
    this.written.push(name);
    this.texts.set(name, text);
  }
  removeItem(name: string): void {
    this.texts.delete(name);
  }
}

const getTasks = (count: number): typeof emptyWorkflow.tasks =>
  Array.from({ length: count }, (_, index) => freshTask(`t${index}`, index, 0));

test('a drawing is kept in parts, and of a change only the part that it is in is written', (t) => {
  const store = new TextStore();
  const autosave = new DraftAutosave(store, 'draft');
  const large = { ...emptyWorkflow, name: 'large', outputs: ['o'], tasks: getTasks(450), edges: [edge('t0', 't1')] };
  t.true(autosave.keep(large));
  t.deepEqual(new DraftAutosave(store, 'draft').read(), large);
  store.written = [];
  const changed = {
    ...large,
    tasks: large.tasks.map((task) => (task.id === 't250' ? { ...task, command: 'true' } : task)),
  };
  t.true(autosave.keep(changed));
  t.deepEqual(store.written, ['draft.tasks.1', 'draft']);
  t.deepEqual(new DraftAutosave(store, 'draft').read(), changed);
});

test('whatever is drawn after another drawing, what is kept is the last one', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 900 })), { maxLength: 6 }),
      (sizes) => {
        const store = new TextStore();
        let autosave = new DraftAutosave(store, 'draft');
        const all = getTasks(900);
        for (const [index, [from, count]] of sizes.entries()) {
          const drawing = {
            ...emptyWorkflow,
            tasks: all.slice(from, from + count),
            edges: all.slice(0, count).map(({ id }) => edge(id, 'x')),
          };
          t.true(autosave.keep(drawing));
          // A page that was loaded again goes on with the stored draft.
          if (index % 2 === 1) autosave = new DraftAutosave(store, 'draft');
          t.deepEqual(autosave.read(), drawing);
        }
      },
    ),
    { seed: 11, numRuns: 40 },
  );
});

test('a draft that is larger than the storage is not kept, not even in part, and a damaged one is ignored', (t) => {
  const store = new TextStore();
  const autosave = new DraftAutosave(store, 'draft');
  t.true(autosave.keep({ ...emptyWorkflow, tasks: getTasks(300) }));
  store.room = 1000;
  t.false(autosave.keep({ ...emptyWorkflow, tasks: getTasks(500) }));
  t.is(store.texts.size, 0);
  t.is(autosave.read(), undefined);
  store.texts.set('draft', '{"format":');
  t.is(new DraftAutosave(store, 'draft').read(), undefined);
});
