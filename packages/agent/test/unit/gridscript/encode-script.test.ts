import test from 'ava';
import fc from 'fast-check';
import { runCommand } from '@mutirao/runtime/processes';
import { runs } from '@mutirao/testkit';
import { encodeScript } from '../../../src/gridscript/encode-script.ts';

test('an encoded script is one line of plain ASCII', (t) => {
  t.is(
    encodeScript('echo \'a\n%d\' "$x" é!'),
    String.raw`/bin/sh -c 'eval "$(printf "echo \047a\012%%d\047 \042\044x\042 \303\251\041")"'`,
  );
});

test('what a script prints of any text is that text, in whatever shell the line is given to', async (t) => {
  const anyText = fc.string({ unit: fc.constantFrom(...'a \\\n\t\'"`$(){}%!*?~#;&|é漢\u0001\r09n'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(anyText, fc.constantFrom('/bin/sh', '/bin/bash'), async (text, shell) => {
      const script = `printf '%s|' '${text.replaceAll("'", `'\\''`)}'`;
      const { stdout } = await runCommand({ command: shell, args: ['-c', encodeScript(script)], deadlineMs: 10_000 });
      t.is(stdout.toString(), `${text}|`);
    }),
    runs(51, 60),
  );
});
