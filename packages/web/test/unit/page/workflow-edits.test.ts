// The model of the workflow editor: edits, what is refused while it is drawn, undo and redo.
import fc from 'fast-check';
import test from 'ava';
import { findWorkflowFault } from '@mutirao/core/workflow';
import { editWorkflow, type WorkflowEdit } from '../../../client/src/model/workflow/edits.ts';
import { emptyWorkflow, findEdgeFault, findWay, freeId, freshTask } from '../../../client/src/model/workflow/graph.ts';
import { beginHistory, redo, takeStep, undo } from '../../../client/src/model/workflow/history.ts';
import { readSavedWorkflow, saveWorkflow } from '../../../client/src/model/workflow/saved-workflow.ts';
import { printFiles, readFiles } from '../../../client/src/model/workflow/file-lines.ts';

type Edited = typeof emptyWorkflow;

function done(workflow: Edited, ...edits: readonly WorkflowEdit[]): Edited {
  return edits.reduce((now, edit) => {
    const result = editWorkflow(now, edit);
    if ('refusal' in result) throw new Error(result.refusal);
    return result.workflow;
  }, workflow);
}
const task = (id: string): WorkflowEdit => ({ kind: 'AddTask', id, x: 0, y: 0 });
const edge = (from: string, to: string): WorkflowEdit => ({ kind: 'AddEdge', from, to });
const chain = done(emptyWorkflow, task('a'), task('b'), task('c'), edge('a', 'b'), edge('b', 'c'));

test('an edge that leads back, one to itself, and a second one of a pair are refused with the reason', (t) => {
  t.deepEqual(findEdgeFault(chain, 'c', 'a'), {
    code: 'MUT_WORKFLOW_CYCLE',
    message: 'c would wait for itself: a → b → c is there already.',
  });
  t.like(findEdgeFault(chain, 'a', 'a'), { code: 'MUT_WORKFLOW_CYCLE', message: 'a cannot wait for itself.' });
  t.like(findEdgeFault(chain, 'a', 'b'), { code: 'MUT_WORKFLOW_DUPLICATE_EDGE' });
  t.like(findEdgeFault(chain, 'a', 'gone'), { code: 'MUT_WORKFLOW_UNKNOWN_TASK' });
  t.is(findEdgeFault(chain, 'a', 'c'), undefined);
  t.deepEqual(editWorkflow(chain, edge('c', 'a')), { refusal: 'c would wait for itself: a → b → c is there already.' });
});

test('the reported way is the shortest', (t) =>
  t.deepEqual(findWay([...chain.edges, ...done(chain, edge('a', 'c')).edges], 'a', 'c'), ['a', 'c']));

test('whatever is drawn, no cycle comes of it', (t) => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const anyEdge = fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids));
  fc.assert(
    fc.property(fc.array(anyEdge, { maxLength: 25 }), (pairs) => {
      let workflow = done(emptyWorkflow, ...ids.map(task));
      for (const [from, to] of pairs) {
        const result = editWorkflow(workflow, edge(from, to));
        if ('workflow' in result) workflow = result.workflow;
      }
      t.is(
        findWorkflowFault({ tasks: workflow.tasks.map(({ id, work }) => ({ id, work })), edges: workflow.edges }),
        undefined,
      );
    }),
    { seed: 5, numRuns: 300 },
  );
});

test('a task that is renamed keeps its edges; a name that is taken or empty is refused', (t) => {
  const renamed = done(chain, { kind: 'RenameTask', id: 'b', newId: 'middle' });
  t.deepEqual(
    renamed.edges.map(({ from, to }) => [from, to]),
    [
      ['a', 'middle'],
      ['middle', 'c'],
    ],
  );
  t.deepEqual(editWorkflow(chain, { kind: 'RenameTask', id: 'b', newId: 'c' }), {
    refusal: 'There is a task c already.',
  });
  t.deepEqual(editWorkflow(chain, { kind: 'RenameTask', id: 'b', newId: '' }), { refusal: 'A task needs a name.' });
});

test('edges of a task that is removed go with it, others stay', (t) => {
  const left = done(chain, { kind: 'RemoveParts', taskIds: new Set(['a']), edges: [] });
  t.deepEqual([left.tasks.map(({ id }) => id), left.edges.map(({ from }) => from)], [['b', 'c'], ['b']]);
  t.is(done(chain, { kind: 'RemoveParts', taskIds: new Set(), edges: [{ from: 'a', to: 'b' }] }).edges.length, 1);
});

test('tasks that an edit does not concern stay the same objects', (t) => {
  const moved = done(chain, { kind: 'MoveTasks', places: new Map([['b', { x: 5, y: 6 }]]) });
  t.is(moved.tasks[0], chain.tasks[0]);
  t.like(moved.tasks[1], { x: 5, y: 6 });
  t.is(done(moved, { kind: 'ChangeTask', id: 'c', change: { work: 2 } }).tasks[1], moved.tasks[1]);
});

test('undo and redo lead back and forth; steps of one gesture are one; a new step forgets what was undone', (t) => {
  let history = beginHistory(0);
  history = takeStep(history, 1);
  history = takeStep(history, 2, 'typing');
  history = takeStep(history, 3, 'typing');
  history = undo(history);
  t.is(history.present, 1);
  t.is(redo(history).present, 3);
  history = takeStep(undo(history), 9);
  t.is(redo(history).present, 9);
  t.is(undo(undo(history)).present, 0);
});

test('however one goes back and forth, undoing all leads to the beginning', (t) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer({ min: 1 }), fc.constantFrom('undo', 'redo'))), (steps) => {
      let history = beginHistory<number>(0);
      for (const step of steps)
        history = step === 'undo' ? undo(history) : step === 'redo' ? redo(history) : takeStep(history, step as number);
      for (let left = steps.length; left > 0; left -= 1) history = undo(history);
      t.is(history.present, 0);
    }),
    { seed: 3, numRuns: 200 },
  );
});

test("a saved workflow is read again as it was; other texts are nobody's, and odd parts become those of a fresh task", (t) => {
  const full = done(chain, {
    kind: 'ChangeTask',
    id: 'a',
    change: {
      command: 'x',
      memory_bytes: 5,
      outputs: [{ name: 'o', bytes: 3, home: '/h/o', comes_home: false }],
      matrix: { operation: 'QR', dimension: 9, parameters: '' },
    },
  });
  t.deepEqual(readSavedWorkflow(saveWorkflow(full)), { workflow: full });
  t.is(readSavedWorkflow('{"tasks":[],"edges":[]}'), undefined);
  t.is(readSavedWorkflow('tasks: []'), undefined);
  const odd = readSavedWorkflow(
    '{"format":"mutirao-workflow-1","tasks":[{"id":"a","work":"much","inputs":7},{"id":""}],"edges":[{"from":"a"}]}',
  );
  t.deepEqual(odd, { workflow: { ...emptyWorkflow, tasks: [freshTask('a', 0, 0)] } });
  const wrong = {
    id: 'a',
    work: -5,
    exchange: -1,
    processors_min: 0,
    processors_max: 2.4,
    matrix: { operation: 'QR', dimension: -3 },
    inputs: [{ name: 'f', bytes: -1 }],
  };
  const mended = readSavedWorkflow(
    JSON.stringify({ format: 'mutirao-workflow-1', tasks: [wrong], edges: [{ from: 'a', to: 'b', data_bytes: -1 }] }),
  );
  t.like(mended, {
    workflow: {
      tasks: [
        {
          work: 1000,
          exchange: 0,
          processors_min: 1,
          processors_max: 2,
          matrix: { dimension: 0 },
          inputs: [{ bytes: 0 }],
        },
      ],
      edges: [{ data_bytes: 0 }],
    },
  });
});

test('a saved file that is damaged is refused with what is wrong: where its text breaks off, which tasks share a name', (t) => {
  t.regex(getRefusal('{"format": "mutirao-workflow-1",\n "tasks": [}'), /^The file is damaged: .*"tasks": \[\}/);
  t.is(
    getRefusal('{"format": "mutirao-workflow-1", "tasks": 7, "edges": []}'),
    'The file is damaged: it has no list of tasks, or none of edges.',
  );
  t.is(
    getRefusal('{"format": "mutirao-workflow-1", "tasks": [{"id": "a"}, {"id": "b"}, {"id": "a"}], "edges": []}'),
    'The file is damaged: its tasks 1 and 3 are both called a.',
  );
  t.is(readSavedWorkflow('{"schemaVersion": '), undefined);
});

function getRefusal(text: string): string {
  const result = readSavedWorkflow(text);
  return result !== undefined && 'refusal' in result ? result.refusal : '';
}

test('a fresh name is one that no task has', (t) => t.is(freeId(done(emptyWorkflow, task('task-2'))), 'task-3'));

test('files are lines, with spaces in names and bytes behind', (t) => {
  const files = [
    { name: 'my input.txt', bytes: 12 },
    { name: 'b', bytes: 0 },
  ];
  t.deepEqual(readFiles(`${printFiles(files)}\n\n`), files);
  const placed = [
    { name: 'b', bytes: 0, home: '/data/b' },
    { name: 'c', bytes: 0, comes_home: false },
  ];
  t.deepEqual(readFiles('b 7\nd', placed), [
    { name: 'b', bytes: 7, home: '/data/b' },
    { name: 'd', bytes: 0 },
  ]);
});
