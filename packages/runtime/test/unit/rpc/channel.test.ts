import { readFileSync } from 'node:fs';
import test from 'ava';
import { channelOptions, clientOptions } from '../../../src/rpc/channel.ts';

const read = (name: string): number => Number(channelOptions[name]);
const [asked, answered] = [read('grpc.keepalive_time_ms'), read('grpc.keepalive_timeout_ms')];

test('a peer that is stopped is noticed within the time that the documentation says, from either end', (t) => {
  const text = readFileSync(new URL('../../../../../docs/guides/troubleshooting.md', import.meta.url), 'utf8');
  const words = text.replaceAll(/\s+/g, ' ');
  t.true(words.includes(`every ${asked / 1000} s, and gives the other end ${answered / 1000} s to answer`));
  t.true(words.includes(`is therefore noticed within ${(asked + answered) / 1000} s`));
  t.like(clientOptions, {
    'grpc.keepalive_time_ms': asked,
    'grpc.keepalive_timeout_ms': answered,
    'grpc.keepalive_permit_without_calls': 1,
  });
});

test('what may be in flight passes a line of 1 Mbit/s before an answer is given up', (t) => {
  t.true((read('grpc-node.flow_control_window') * 8) / 1_000_000 < answered / 1000);
});
