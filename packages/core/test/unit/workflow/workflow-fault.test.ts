import { sayReason } from '@mutirao/api/reasons';
import test from 'ava';
import { findTooWide, findWorkflowFault, makeWorkflow, type EdgeDraft, type TaskDraft } from '@mutirao/core/workflow';

const three: readonly TaskDraft[] = ['a', 'b', 'c'].map((id) => ({ id, work: 1 }));
const getFault = (tasks: readonly TaskDraft[], edges: readonly EdgeDraft[] = []): readonly unknown[] => {
  const fault = findWorkflowFault({ tasks, edges });
  return [fault?.code, fault && sayReason(fault.fault), fault?.taskIndex ?? fault?.edgeIndex];
};

test('a workflow without tasks is none', (t) => {
  t.deepEqual(getFault([]), ['MUT_WORKFLOW_EMPTY', 'the workflow has no task', undefined]);
});

test('a cycle is reported with its whole path, and not the tasks that merely lead there', (t) => {
  const edges = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'c', to: 'b' },
    { from: 'c', to: 'd' },
  ];
  const [code, message, index] = getFault([...three, { id: 'd', work: 1 }], edges);
  t.is(code, 'MUT_WORKFLOW_CYCLE');
  t.is(message, '2 tasks wait for each other: b -> c -> b');
  t.true(index === 1 || index === 2);
});

test('a task that waits for itself is a cycle of one', (t) => {
  t.deepEqual(getFault(three, [{ from: 'b', to: 'b' }]), ['MUT_WORKFLOW_CYCLE', 'task b waits for itself', 0]);
});

test('tasks behind a cycle do not hide it', (t) => {
  t.is(
    getFault(three, [
      { from: 'b', to: 'c' },
      { from: 'c', to: 'b' },
      { from: 'b', to: 'a' },
    ])[1],
    '2 tasks wait for each other: b -> c -> b',
  );
});

test('an edge to nowhere, an edge twice and a task twice are named', (t) => {
  t.deepEqual(getFault(three, [{ from: 'a', to: 'x' }]), [
    'MUT_WORKFLOW_DANGLING_EDGE',
    'the edge from a to x names the task x, which does not exist',
    0,
  ]);
  t.deepEqual(
    getFault(three, [
      { from: 'a', to: 'b' },
      { from: 'a', to: 'b' },
    ]),
    ['MUT_WORKFLOW_DUPLICATE_EDGE', 'there are two edges from a to b', 1],
  );
  t.deepEqual(getFault([...three, { id: 'b', work: 1 }]), ['MUT_WORKFLOW_DUPLICATE_TASK', 'there are two tasks b', 3]);
});

test('costs that are negative, no number or without end are refused, at tasks and at edges', (t) => {
  for (const work of [NaN, -1, Infinity])
    t.deepEqual(getFault([{ id: 'a', work }]), [
      'MUT_WORKFLOW_COST',
      `the work of task a is ${work}; expected a number, 0 or more`,
      0,
    ]);
  t.is(getFault([{ id: 'a', work: 1, exchange: -2 }])[0], 'MUT_WORKFLOW_COST');
  t.deepEqual(getFault(three, [{ from: 'a', to: 'b', data: -5 }]), [
    'MUT_WORKFLOW_COST',
    'the edge from a to b costs -5; expected a number, 0 or more',
    0,
  ]);
  t.is(getFault(three, [{ from: 'a', to: 'b', share: NaN }])[0], 'MUT_WORKFLOW_COST');
});

test('widths are whole numbers, the fewest first, and no wider than the machines', (t) => {
  t.is(getFault([{ id: 'a', work: 1, widthMin: 0 }])[0], 'MUT_WORKFLOW_WIDTH');
  t.is(
    getFault([{ id: 'a', work: 1, widthMin: 3, widthMax: 2 }])[1],
    'task a takes 3 to 2 processors; expected whole numbers, 1 or more, the minimum first',
  );
  t.deepEqual(findTooWide({ tasks: [{ id: 'a', work: 1, widthMin: 3 }], edges: [] }, 2)?.fault, {
    code: 'workflow-task-too-wide',
    taskId: 'a',
    processors: 3,
    knownProcessors: 2,
  });
  t.is(findTooWide({ tasks: [{ id: 'a', work: 1, widthMin: 2, widthMax: 9 }], edges: [] }, 2), undefined);
});

test('tasks are sorted so that each comes after what it waits for, the lowest index first', (t) => {
  const workflow = makeWorkflow({ tasks: three, edges: [{ from: 'c', to: 'a' }] });
  t.deepEqual(workflow.order, [1, 2, 0]);
  t.deepEqual(
    [workflow.incoming, workflow.outgoing],
    [
      [[0], [], []],
      [[], [], [0]],
    ],
  );
  t.deepEqual(workflow.tasks[0], { id: 'a', work: 1, exchange: 0, widthMin: 1, widthMax: 1 });
});

test('a draft with a fault makes no workflow', (t) => {
  t.throws(
    () =>
      makeWorkflow({
        tasks: three,
        edges: [
          { from: 'a', to: 'b' },
          { from: 'b', to: 'a' },
        ],
      }),
    { message: 'a workflow with a cycle' },
  );
  t.throws(() => makeWorkflow({ tasks: three, edges: [{ from: 'a', to: 'x' }] }), { message: /which does not exist/ });
});
