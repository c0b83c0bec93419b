import test from 'ava';
import { widenForGang } from '../../../../src/machines/provider/widen-for-gang.ts';

const draft = (width: number) => ({ width, walltime: 1000, reasons: [{ code: 'no-pending-tasks' }] as const });
const pending = (width: number) => ({
  requestId: 'q1',
  width,
  walltime: 1000,
  status: 'queued' as const,
  startedAt: 0,
});

test('the widest draft becomes as wide as a gang, and takes the place of those that it makes needless', (t) => {
  const widened = widenForGang([draft(1), draft(2), draft(3)], 5, { widthMax: 8, pending: [] });
  t.deepEqual(
    widened.map(({ width }) => width),
    [5, 2],
  );
  t.deepEqual(widened[0]?.reasons[0], { code: 'widened-for-gang', processorsBefore: 3, processors: 5 });
});

test('drafts stay where no gang is wanted, one is wide enough, another request is, or none may be', (t) => {
  const drafts = [draft(2), draft(4)];
  t.is(widenForGang(drafts, 0, { widthMax: 8, pending: [] }), drafts);
  t.is(widenForGang(drafts, 4, { widthMax: 8, pending: [] }), drafts);
  t.is(widenForGang(drafts, 6, { widthMax: 8, pending: [pending(6)] }), drafts);
  t.is(widenForGang(drafts, 9, { widthMax: 8, pending: [] }), drafts);
  t.deepEqual(widenForGang([], 9, { widthMax: 8, pending: [] }), []);
});
