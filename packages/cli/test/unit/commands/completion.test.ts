import test from 'ava';
import { runCommandLine } from '@mutirao/testkit';

test('the bash script knows nouns and their verbs', async (t) => {
  const { out } = await runCommandLine(['completion', 'bash']);
  t.regex(out, /1\) words="up down status web job task /);
  t.regex(
    out,
    /job\) words="submit list show wait cancel append close hold release forget update retry outputs export machines report" ;;/,
  );
});

test('the fish script describes each word', async (t) => {
  t.regex(
    (await runCommandLine(['completion', 'fish'])).out,
    /seen_subcommand_from job' -a cancel -d 'Cancel running jobs\.'/,
  );
});

test('an unknown shell is refused with those that are known', async (t) => {
  const { status, err } = await runCommandLine(['completion', 'tcsh']);
  t.is(status, 2);
  t.regex(err, /expected one of bash, zsh, fish/);
});
