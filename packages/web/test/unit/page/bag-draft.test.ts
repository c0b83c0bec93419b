// What is typed into the form of a bag, and what is asked for.
import test from 'ava';
import { emptyBag, readBag, refuseFiles } from '../../../client/src/model/bag-draft.ts';

const draft = { ...emptyBag, command: './run {}' };

test('an untouched form asks for nothing but a command', (t) => {
  t.deepEqual(readBag(emptyBag, []), { field: 'command', message: 'Enter a command.' });
  t.deepEqual(readBag(draft, []), { spec: { command: './run {}', values: { kind: 'array', selector: '1-100' } } });
});

test('tasks start in the folder of the job where that is ticked', (t) => {
  t.like(readBag({ ...draft, isInPlace: true, directory: '/w' }, []), { spec: { in_place: true, directory: '/w' } });
});

test('values are numbers, a list without empty lines, a table, or nothing', (t) => {
  t.like(readBag({ ...draft, kind: 'list', list: 'a\r\n\n b \n' }, []), {
    spec: { values: { kind: 'list', values: ['a', ' b '] } },
  });
  t.like(readBag({ ...draft, kind: 'csv', csv: 'x,y\n1,2\n' }, []), {
    spec: { values: { kind: 'csv', text: 'x,y\n1,2\n' } },
  });
  t.like(readBag({ ...draft, kind: 'single' }, []), { spec: { values: { kind: 'single' } } });
  for (const [kind, field] of [
    ['array', 'selector'],
    ['list', 'list'],
    ['csv', 'csv'],
  ] as const)
    t.like(readBag({ ...draft, kind, selector: ' ', list: '\n', csv: '' }, []), { field });
});

test('numbers and variables that cannot be read are reported with their field, and nothing is sent', (t) => {
  t.deepEqual(readBag({ ...draft, processors: '0' }, []), {
    field: 'processors',
    message: '0 is not a number from 1 to 65536.',
  });
  t.like(readBag({ ...draft, retries: '1.5' }, []), { field: 'retries' });
  t.deepEqual(readBag({ ...draft, environment: 'A=1\n2B=3' }, []), {
    field: 'environment',
    message: 'Expected NAME=VALUE, found 2B=3.',
  });
  t.like(
    readBag(
      { ...draft, processors: '4', retries: '0', minutes: '1.5', environment: 'A=1=2', put: 'a:b\n', label: ' x ' },
      [],
    ),
    {
      spec: { processors: 4, retries: 0, run_time_ms_max: 90_000, environment: { A: '1=2' }, put: ['a:b'], label: 'x' },
    },
  );
});

test('files are bounded, and named as files are', (t) => {
  const file = (name: string, length = 4): { name: string; content_base64: string } => ({
    name,
    content_base64: 'A'.repeat(length),
  });
  t.is(refuseFiles([file('a'), file('b')], 100), undefined);
  t.regex(refuseFiles([file('a', 2_000_000)], 1_000_000) ?? '', /2 MB/);
  for (const name of ['', '..', 'a/b', 'a\\b']) t.regex(refuseFiles([file(name)], 100) ?? '', /not a valid file name/);
  t.regex(refuseFiles([file('a'), file('a')], 100) ?? '', /already/);
  t.regex(
    refuseFiles(
      Array.from({ length: 101 }, (_, index) => file(`f${index}`)),
      1e6,
    ) ?? '',
    /100/,
  );
});
