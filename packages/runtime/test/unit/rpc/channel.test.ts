import { readFileSync } from 'node:fs';
import test from 'ava';
import { channelOptions, clientOptions } from '../../../src/rpc/channel.ts';

const read = (name: string): number => Number(channelOptions[name]);
const [asked, answered] = [read('grpc.keepalive_time_ms'), read('grpc.keepalive_timeout_ms')];

test('a peer that is stopped is noticed within the time that the documentation says, from either end', (t) => {
  const text = readFileSync(new URL('../../../../../docs/recovery.md', import.meta.url), 'utf8');
  t.true(
    text.includes(
      `by keepalives within ${(asked + answered) / 1000} s: asked every ${asked / 1000} s, the other end has ` +
        `${answered / 1000} s to answer`,
    ),
  );
  t.true(text.includes(`Until the others notice, ${answered / 1000} to ${(asked + answered) / 1000} s`));
  t.like(clientOptions, {
    'grpc.keepalive_time_ms': asked,
    'grpc.keepalive_timeout_ms': answered,
    'grpc.keepalive_permit_without_calls': 1,
  });
});

test('what may be in flight passes a line of 1 Mbit/s before an answer is given up', (t) => {
  t.true((read('grpc-node.flow_control_window') * 8) / 1_000_000 < answered / 1000);
});
