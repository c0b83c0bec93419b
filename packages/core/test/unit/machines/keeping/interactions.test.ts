import test from 'ava';
import { checkInteractions, KeepingDialogue } from '@mutirao/testkit';

test('a site gets what was promised, is asked again for what it refused, and loses what is promised no more', (t) => {
  const dialogue = new KeepingDialogue();
  checkInteractions(t, new URL('../../../interactions/keeping.txt', import.meta.url), (lines) =>
    lines.flatMap((line) => dialogue.perform(line)).join('\n'),
  );
  t.notThrows(() => {
    dialogue.checkReplay();
  });
});
