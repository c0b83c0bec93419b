// No answer of any call grows without a bound: what repeats something is cut into pages, or it is written down why it
// is not.
import test from 'ava';
import { ownPages, pagedAnswers, wholeAnswers } from '@mutirao/api/paged-answers';
import { ProtoFiles } from '@mutirao/api/proto-files';

type Method = ReturnType<typeof methods>[number];

function methods() {
  return [...new ProtoFiles().registry]
    .filter((type) => type.kind === 'service')
    .filter(({ typeName }) => typeName.startsWith('mutirao.'))
    .flatMap((service) => service.methods);
}

const getPath = ({ parent, name }: Method): string => `/${parent.typeName}/${name}`;

/** Whether anything in a message repeats, however deep. */
function repeats(type: Method['output'], seen = new Set<string>()): boolean {
  if (seen.has(type.typeName)) return false;
  seen.add(type.typeName);
  return type.fields.some(
    (field) =>
      field.fieldKind === 'list' ||
      field.fieldKind === 'map' ||
      (field.message !== undefined && repeats(field.message, seen)),
  );
}

test('every call that answers with something repeated has pages of bounded bytes, or a reason why it has none', (t) => {
  const found = methods()
    .filter(({ methodKind, output }) => methodKind === 'unary' && repeats(output))
    .map(getPath);
  const known = [...Object.keys(pagedAnswers), ...ownPages, ...Object.keys(wholeAnswers)];
  t.deepEqual(found.sort(), known.sort(), 'add the call to packages/api/src/paged-answers.ts');
  t.true(found.length > 30);
});

test('a list in pages has a token in its request and its answer, and a list that is called a list has pages', (t) => {
  for (const method of methods()) {
    const path = getPath(method);
    const paged = pagedAnswers[path];
    if (paged !== undefined) {
      t.is(method.output.field[paged.field]?.fieldKind, 'list', path);
      t.is(method.input.field['pageToken']?.number === undefined, false, path);
      t.is(method.output.field['nextPageToken']?.number === undefined, false, path);
    }
    if (method.name.startsWith('List') || ownPages.has(path))
      t.true(
        method.output.fields.some(({ name }) => name.startsWith('next_')),
        path,
      );
  }
});
