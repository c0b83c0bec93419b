import { fileURLToPath } from 'node:url';
import test from 'ava';
import { readManagerFile } from '../../../src/commands/manager-file.ts';
import { parseListing } from '../../../src/commands/parse-listing.ts';

const { queue } = readManagerFile(
  fileURLToPath(new URL('../../../../../examples/managers/spool.json', import.meta.url)),
);

test('lines are requests, and empty ones are nothing', (t) => {
  const listing = parseListing(
    '1 k.q1 2 60 R 1795205929 1795205930 - -\n\n2 k.q2 4 90 D 1795205929 1795205930 1795205990 status 1\n',
    queue,
  );
  if (listing.kind === 'garbage') throw new Error(listing.why);
  t.deepEqual(
    listing.requests.map(({ managerRequestId, status, width, walltime, endReason }) => [
      managerRequestId,
      status,
      width,
      walltime,
      endReason,
    ]),
    [
      ['1', 'running', 2, 60_000, ''],
      ['2', 'ended', 4, 90_000, 'status 1'],
    ],
  );
  t.deepEqual(parseListing('', queue), { kind: 'requests', requests: [] });
});

test('one malformed line spoils the listing, unless the templates say to skip it', (t) => {
  const lines = 'Maintenance on Friday\n1 k.q1 2 60 R 1795205929 1795205930 - -\n';
  t.deepEqual(parseListing(lines, queue), {
    kind: 'garbage',
    why: 'a line that "pattern" does not match: Maintenance on Friday',
  });
  if (queue.format.kind !== 'lines') throw new Error('the spool lists by line');
  t.is(parseListing(lines, { ...queue, format: { ...queue.format, skip: /^Maintenance/ } }).kind, 'requests');
  t.is(parseListing('1 k.q1 2 60 R 17952', queue).kind, 'garbage', 'half a listing');
});

test('a held request waits for something else than processors, unless its start is announced', (t) => {
  const templates = { ...queue, states: new Map([...queue.states, ['H', 'held'] as const]) };
  const listing = parseListing(
    '1 k.q1 2 60 H 1795205929 - - -\n2 k.q2 2 60 H 1795205929 1795205990 - -\n3 k.q3 2 60 W 1795205929 - - -\n',
    templates,
  );
  if (listing.kind === 'garbage') throw new Error(listing.why);
  t.deepEqual(
    listing.requests.map(({ status, startsAt, isHeldBack }) => [status, startsAt, isHeldBack]),
    [
      ['queued', 0, true],
      ['queued', 1_795_205_990_000, undefined],
      ['queued', 0, undefined],
    ],
  );
});
