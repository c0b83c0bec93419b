import type { Catalogue } from './catalogue.ts';

/** Why values cannot be put into a command, or a path cannot be filled in. */
export const commandFaults = {
  'command-unsafe': ({ cause }, { say }) =>
    `no value can be put into the command safely, because it has ${say(cause)}; expected placeholders outside of that`,
  'value-unsafe': ({ value, placeholder, cause }, { say }) =>
    `the value ${JSON.stringify(value)} is not safe where ${placeholder} stands: ${say(cause)}; expected ` +
    `${placeholder} elsewhere, such as in X=${placeholder} before the command`,

  'command-nested-too-deep': ({ levelsMax }) => `commands nested more than ${levelsMax} deep`,
  'command-unclosed': ({ opening }) => `a ${opening} that is not closed`,
  'command-ansi-placeholder': () => "a placeholder inside $'...', which shells read differently",
  'command-ansi-escape': () => "\\' inside $'...', which shells read differently",
  'command-parameter-quoted': ({ character }) =>
    `a ${character} inside quotes and \${...}, which shells read differently`,
  'command-delimiter-filled': () => 'a here-document whose delimiter is not a plain word',

  'value-in-arithmetic': () => 'it is part of arithmetic, which takes only integers',
  'value-not-plain': ({ place }) =>
    `it is ${place === 'parameter' ? 'inside ${...}' : 'part of a script that is put together when the command runs'}, ` +
    'where only letters, digits and @%+=:,./_- are safe',
  'value-ends-here-document': ({ delimiter }) => `it could end the here-document "${delimiter}", or lose tabs in it`,

  'path-variable-unsafe': ({ variable, value, machineId, cause }, { say }) =>
    `$${variable} is ${JSON.stringify(value)} on ${machineId}: ${say(cause)}`,
  'name-with-control-character': () => 'it contains a control character',
  'name-with-slash': () => 'it contains a "/"',
  'name-of-other-folder': () => 'it leads to another folder',
  'name-too-long': ({ charactersMax }) => `it is longer than ${charactersMax} characters`,
  'path-name-empty': () => 'it leaves a name in the path empty',
  'path-name-relative': ({ name }) => `it makes the name "${name}"`,
  'path-name-hidden': () => 'it makes the name of a hidden file',
} satisfies Partial<Catalogue>;
