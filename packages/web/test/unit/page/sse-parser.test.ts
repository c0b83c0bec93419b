// Server-sent events, however the network cuts them.
import fc from 'fast-check';
import test from 'ava';
import { SseParser } from '../../../client/src/gateway/sse-parser.ts';

const text =
  'retry: 1000\n\n: alive\n\nid: a.1\nevent: jobs\ndata: {"jobs":[]}\n\nid: a.2\r\nevent: events\r\ndata: ' +
  'one\r\ndata: two\r\n\r\ndata:bare\n\n';
const pieces = [
  { id: 'a.1', event: 'jobs', data: '{"jobs":[]}' },
  { id: 'a.2', event: 'events', data: 'one\ntwo' },
  { id: 'a.2', event: '', data: 'bare' },
];

test('messages are read, comments and retry are not', (t) => t.deepEqual(new SseParser().read(text), pieces));

test('cuts anywhere change nothing', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: text.length })), (cuts) => {
      const parser = new SseParser();
      const places = [0, ...cuts.sort((one, other) => one - other), text.length];
      const read = places.slice(1).flatMap((place, index) => parser.read(text.slice(places[index], place)));
      t.deepEqual(read, pieces);
    }),
    { seed: 11, numRuns: 200 },
  );
});
