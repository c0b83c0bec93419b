// What is copied while the answer to what was typed last is still to come.
import test from 'ava';
import { answerNow } from '../../../client/src/model/latest-answer.ts';

test('an answer counts only for what it answers; about anything else it is asked again', async (t) => {
  const [before, now] = [{ spec: 'a' }, { spec: 'b' }];
  const asked: string[] = [];
  const ask = (): Promise<string> => {
    asked.push('b');
    return Promise.resolve('the line of b');
  };
  t.is(await answerNow(now, { to: now, answer: 'known' }, ask), 'known');
  t.deepEqual(asked, []);
  t.is(await answerNow(now, { to: before, answer: 'the line of a' }, ask), 'the line of b');
  t.is(await answerNow(now, undefined, ask), 'the line of b');
  t.deepEqual(asked, ['b', 'b']);
});
