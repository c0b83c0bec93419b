import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '@mutirao/testkit';
import { readManagerFile } from '../../../src/commands/manager-file.ts';

const examples = fileURLToPath(new URL('../../../../../examples/managers/', import.meta.url));

type Json = Record<string, Record<string, unknown>>;

/** Reads the spool's templates after a change of them, as `manager.json`. */
function read(t: ExecutionContext, change: (templates: Json) => void): void {
  const templates = JSON.parse(readFileSync(join(examples, 'spool.json'), 'utf8')) as Json;
  change(templates);
  const path = join(temporaryFolder(t), 'manager.json');
  writeFileSync(path, JSON.stringify(templates));
  readManagerFile(path);
}

function refused(t: ExecutionContext, change: (templates: Json) => void, message: RegExp): void {
  t.throws(
    () => {
      read(t, change);
    },
    { code: 'MUT_BAD_CONFIG', message },
  );
}

/** A part of the templates, whatever it was. */
function part(templates: Json, name: string): Record<string, unknown> {
  return templates[name] ?? {};
}

test('the examples are read', (t) => {
  const spool = readManagerFile(join(examples, 'spool.json'));
  t.deepEqual(spool.limits.values.get('walltimeMax'), { kind: 'given', value: 86_400_000 });
  t.is(spool.queue.states.get('D'), 'ended');
  t.is(readManagerFile(join(examples, 'openpbs.json')).queue.states.get('H'), 'held');
  t.is(readManagerFile(join(examples, 'openpbs.json')).limits.values.get('processors')?.kind, 'read');
});

test('an error names file, field, the value found and the expected one', (t) => {
  const refuse = (change: (templates: Json) => void, message: RegExp): void => {
    refused(t, change, message);
  };
  refuse((all) => {
    delete all['queue'];
  }, /manager\.json: field "queue" is absent; expected an object/);
  refuse((all) => {
    part(all, 'submit')['command'] = 'qsub';
  }, /field "submit.command" is "qsub"; expected an array of texts/);
  refuse((all) => {
    part(all, 'submit')['command'] = ['qsub', '{widht}'];
  }, /"submit.command" is .*; expected no \{widht\}; the placeholders here are \{key\}, .*\{width\}/);
  refuse((all) => {
    part(all, 'submit')['comand'] = [];
  }, /there is no field "submit.comand"; expected perhaps "command"/);
  refuse((all) => {
    part(all, 'submit')['id'] = '^job \\d+$';
  }, /"submit.id" is .*; expected a group/);
  refuse((all) => {
    part(all, 'submit')['id'] = '((';
  }, /"submit.id" is "\(\("; expected a regular expression: /);
  refuse((all) => {
    part(all, 'submit')['input'] = 'none';
  }, /\{script\}, since "input" is "none"/);
  refuse((all) => {
    part(all, 'submit')['input'] = 'file';
  }, /"submit.input" is "file"; expected one of script, none/);
  refuse((all) => {
    part(all, 'submit')['launch'] = 'mpirun {process}';
  }, /"submit.processIndex" is absent; expected shell words/);
  refuse((all) => {
    part(all, 'submit')['launch'] = 'mpirun';
  }, /"submit.launch" is "mpirun"; expected \{process\}/);
  refuse((all) => {
    part(all, 'submit')['refusals'] = { TOO_WIDE: 'x' };
  }, /"submit.refusals.TOO_WIDE" is "x"; expected .*MUT_WIDTH_MAX/);
  refuse((all) => {
    part(all, 'cancel')['command'] = ['qdel'];
  }, /"cancel.command" is \["qdel"\]; expected a word with \{id\}/);
  refuse((all) => {
    part(all, 'queue')['format'] = 'xml';
  }, /"queue.format" is "xml"; expected one of lines, json/);
  refuse((all) => {
    part(all, 'queue')['pattern'] = '(?<id>.)(?<key>.)(?<state>.)';
  }, /expected groups named width, walltime too/);
  refuse((all) => {
    part(all, 'queue')['pattern'] = `${String(part(all, 'queue')['pattern'])}(?<queue>.*)`;
  }, /expected no group named queue; there are id, key/);
  refuse((all) => {
    part(all, 'queue')['states'] = { queued: ['Q'], runing: ['R'] };
  }, /no field "queue.states.runing"; expected perhaps "running"/);
  refuse((all) => {
    part(all, 'queue')['states'] = { queued: ['Q'] };
  }, /"queue.states.running" is absent; expected an array of texts/);
  refuse((all) => {
    delete part(all, 'limits')['processors'];
  }, /"limits.processors" is absent; expected a number/);
  refuse((all) => {
    part(all, 'limits')['processors'] = 'many';
  }, /"limits.processors" is "many"; expected a whole number/);
  refuse((all) => {
    part(all, 'limits')['walltimeMax'] = 'a day';
  }, /"limits.walltimeMax" is "a day"; expected a duration such as/);
  refuse((all) => {
    part(all, 'limits')['processors'] = { pattern: 'x' };
  }, /since "limits" has no "command"/);
  t.throws(
    () => {
      readManagerFile(join(examples, 'none.json'));
    },
    { code: 'MUT_BAD_CONFIG', message: /none\.json cannot be read; expected a JSON file/ },
  );
});
