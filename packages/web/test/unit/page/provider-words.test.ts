// What the page says of a provider.
import test from 'ava';
import { sayDraining, sayProvider } from '../../../client/src/model/provider-words.ts';
import { sayTimeOfDay } from '../../../client/src/model/words.ts';

const provider = {
  provider_id: 'alpha',
  address: 'h:1',
  connected: true,
  machines: 2,
  last_error: '',
  requests_queued: 3,
  requests_running: 1,
  resource_id: null,
  draining_since_unix_ms: null,
  draining_reason: '',
  running_tasks: 0,
};
const draining = { ...provider, draining_since_unix_ms: 1_000_000, draining_reason: 'new disks', running_tasks: 2 };

test('a provider that takes work is described by its requests, and one that drains or is away by that', (t) => {
  t.is(sayProvider(provider), '1 running, 3 queued');
  t.is(sayProvider(draining), 'draining');
  t.is(sayProvider({ ...draining, connected: false }), 'not connected');
});

test('of a provider that drains it is said since when and why, and what still runs', (t) => {
  t.is(sayDraining(provider), '');
  t.is(sayDraining(draining), `draining since ${sayTimeOfDay(1_000_000)}, 2 tasks still running (new disks)`);
  t.is(
    sayDraining({ ...draining, draining_reason: '', running_tasks: 1 }),
    `draining since ${sayTimeOfDay(1_000_000)}, 1 task still running`,
  );
});
