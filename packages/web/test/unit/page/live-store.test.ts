// When the page listens to its stream.
import test from 'ava';
import { LiveStore } from '../../../client/src/gateway/live-store.ts';

test('a hidden tab has no stream; when it is seen again it has one, of what is wanted then', (t) => {
  const opened: { readonly address: string; readonly signal: AbortSignal | null | undefined }[] = [];
  const live = new LiveStore('secret', {
    fetch: (address, { signal }) => {
      opened.push({ address, signal });
      return new Promise(() => undefined);
    },
    onNextFrame: (run) => {
      run();
    },
    every: () => undefined,
    now: () => 0,
  });
  live.setVisible(false);
  live.setVisible(true);
  t.is(opened.length, 0, 'nothing is wanted yet');
  live.watch(['summary', 'jobs']);
  live.setVisible(true);
  t.is(opened.length, 1);
  live.setVisible(false);
  t.true(opened[0]?.signal?.aborted);
  live.watch(['summary', 'job'], 5);
  t.is(opened.length, 1);
  live.setVisible(true);
  t.is(opened.length, 2);
  t.regex(opened[1]?.address ?? '', /topics=summary,job&job=5$/);
  t.false(opened[1]?.signal?.aborted);
});
