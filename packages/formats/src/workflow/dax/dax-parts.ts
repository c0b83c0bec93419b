import { part, type FormatPart } from '../format-parts.ts';

/** Oldest and newest version of DAX that is read; the newest is the last one that Pegasus has defined. */
export const daxVersions = { oldest: '1.8', newest: '3.6' } as const;

const information = 'description';
const subWorkflow = 'jobs only; a workflow within a workflow is a file of its own: submit it by itself';
const catalog = 'how a site installs or finds it';

/**
 * All that a DAX may hold, and what is made of it: the reader goes by this list, and so does the table in
 * docs/reference/workflow-formats.md.
 */
export const daxParts: readonly FormatPart[] = [
  part('adag adag/job', '1.8 to 3.6', 'read', 'the workflow, and a task for each job'),
  part('adag@version', '1.8 to 3.6', 'read', 'checked'),
  part('adag@name', '1.8 to 3.6', 'read', 'label of the job'),
  part(
    'adag@jobCount adag@childCount',
    '1.8 to 2.1',
    'read',
    'compared with what the file holds; a warning says what differs',
  ),
  part('adag@index adag@count', '1.8 to 3.6', 'read', 'a warning says that the file is a part of several'),
  part('adag@fileCount adag@xmlns adag@xmlns:xsi adag@xsi:schemaLocation', '1.8 to 3.6', 'unused', information),
  part('adag/metadata adag/metadata@key adag/metadata@type', '3.6', 'unused', information),
  part('adag/invoke', '3.3 to 3.6', 'noted', 'a notification is not sent'),
  part('adag/invoke@when', '3.3 to 3.6', 'unused', information),
  part(
    'adag/filename adag/filename@file adag/filename@link adag/filename@optional',
    '1.8 to 3.0',
    'unused',
    'files that jobs name again',
  ),

  part(
    'adag/file adag/file@name adag/file/pfn adag/file/pfn@url adag/file/pfn@site',
    '3.2 to 3.6',
    'read',
    'place of an input at home: that of the site `local`, else the first',
  ),
  part(
    'adag/file/metadata adag/file/metadata@key adag/file/metadata@type',
    '3.2 to 3.6',
    'read',
    'size of the file (key `size`)',
  ),
  part('adag/file/profile adag/file/pfn/profile', '3.2 to 3.6', 'noted', catalog),
  part(
    'adag/file/profile@namespace adag/file/profile@key adag/file/pfn/profile@namespace adag/file/pfn/profile@key',
    '3.2 to 3.6',
    'unused',
    catalog,
  ),

  part(
    'adag/executable adag/executable@namespace adag/executable@name adag/executable@version',
    '3.2 to 3.6',
    'read',
    'program of the jobs with the same namespace, name and version',
  ),
  part(
    'adag/executable@installed',
    '3.2 to 3.6',
    'read',
    '`false`: the program is brought from home; else it is at that place on each machine',
  ),
  part(
    'adag/executable/pfn adag/executable/pfn@url adag/executable/pfn@site',
    '3.2 to 3.6',
    'read',
    'place of the program: that of the site `local`, else the first',
  ),
  part(
    'adag/executable/profile adag/executable/profile@namespace adag/executable/profile@key',
    '3.2 to 3.6',
    'read',
    'as `job/profile`, which goes before it',
  ),
  part(
    'adag/executable/pfn/profile adag/executable/pfn/profile@namespace adag/executable/pfn/profile@key',
    '3.2 to 3.6',
    'read',
    'as `job/profile`, which goes before it',
  ),
  part(
    'adag/executable@arch adag/executable@os',
    '3.2 to 3.6',
    'read',
    'of several programs with one name, that for `x86_64` and `linux`',
  ),
  part('adag/executable@osrelease adag/executable@osversion adag/executable@glibc', '3.2 to 3.6', 'unused', catalog),
  part(
    'adag/executable/metadata adag/executable/metadata@key adag/executable/metadata@type',
    '3.2 to 3.6',
    'unused',
    information,
  ),
  part('adag/executable/invoke', '3.3 to 3.6', 'noted', 'a notification is not sent'),
  part('adag/executable/invoke@when', '3.3 to 3.6', 'unused', information),

  part(
    'adag/transformation adag/transformation@namespace adag/transformation@name adag/transformation@version',
    '3.2 to 3.6',
    'read',
    'further inputs of the jobs with the same namespace, name and version',
  ),
  part(
    'adag/transformation/uses adag/transformation/uses@name adag/transformation/uses@namespace ' +
      'adag/transformation/uses@version adag/transformation/uses@executable',
    '3.2 to 3.6',
    'read',
    'such an input; a program that is installed needs no bringing',
  ),
  part(
    'adag/transformation/metadata adag/transformation/metadata@key adag/transformation/uses/metadata ' +
      'adag/transformation/uses/metadata@key',
    '3.6',
    'unused',
    information,
  ),
  part('adag/transformation/invoke', '3.3 to 3.6', 'noted', 'a notification is not sent'),
  part('adag/transformation/invoke@when', '3.3 to 3.6', 'unused', information),

  part('adag/job@id', '1.8 to 3.6', 'read', 'id of the task'),
  part(
    'adag/job@namespace adag/job@name adag/job@version',
    '1.8 to 3.6',
    'read',
    'kind of the task (the name), and its program: the `executable` with all three, else the name, looked up in ' +
      'PATH; a job is refused where the file has only other versions of its program',
  ),
  part(
    'adag/job@runtime',
    'workflow generator, 3.0',
    'read',
    'run time in seconds; a job that has it and no `argument`, `stdin`, `stdout`, `stderr` or `executable` has ' +
      'no command',
  ),
  part('adag/job@cores', 'workflow generator', 'read', 'processors, where no profile says so'),
  part(
    'adag/job@level adag/job@compound adag/job@dv-namespace adag/job@dv-name adag/job@dv-version',
    '1.8 to 3.0',
    'unused',
    information,
  ),
  part('adag/job@node-label adag/job@type', '3.0 to 3.6', 'unused', information),
  part(
    'adag/job/argument',
    '1.8 to 3.6',
    'read',
    'arguments, parted at blanks; quotes and backslashes as in a shell, nothing else has a meaning',
  ),
  part(
    'adag/job/argument/filename adag/job/argument/filename@file',
    '1.8 to 3.0',
    'read',
    'the name of a file, within an argument',
  ),
  part(
    'adag/job/argument/file adag/job/argument/file@name',
    '3.2 to 3.6',
    'read',
    'the name of a file, within an argument',
  ),
  part(
    'adag/job/stdin adag/job/stdin@file adag/job/stdin@name adag/job/stdin@link',
    '1.8 to 3.6',
    'read',
    'standard input, which is an input of the task',
  ),
  part(
    'adag/job/stdout adag/job/stdout@file adag/job/stdout@name adag/job/stdout@link adag/job/stderr ' +
      'adag/job/stderr@file adag/job/stderr@name adag/job/stderr@link',
    '1.8 to 3.6',
    'read',
    'standard output and error, which are outputs of the task; a file that it reads is refused',
  ),
  part('adag/job/stdin@varname adag/job/stdout@varname adag/job/stderr@varname', '1.8 to 3.0', 'unused', information),
  part(
    'adag/job/profile adag/job/profile@namespace adag/job/profile@key',
    '1.8 to 3.6',
    'read',
    'see the table of profiles',
  ),
  part('adag/job/profile@origin', '2.0 to 3.0', 'unused', information),
  part(
    'adag/job/profile/filename adag/job/profile/filename@file',
    '1.8 to 3.0',
    'read',
    'the name of a file, within a profile',
  ),
  part('adag/job/uses adag/job/uses@file adag/job/uses@name', '1.8 to 3.6', 'read', 'a file of the task'),
  part(
    'adag/job/uses@link',
    '1.8 to 3.6',
    'read',
    '`input`, `output`; `inout`: read, changed and written; `none`: no file of the task; `checkpoint`: as ' +
      '`none`, a warning says so',
  ),
  part('adag/job/uses@optional', '1.8 to 3.6', 'read', '`true`: a warning says that the file is needed here'),
  part('adag/job/uses@transfer', '2.1 to 3.6', 'read', 'of an output, `false`: it does not come home'),
  part('adag/job/uses@dontTransfer', '1.8 to 2.0', 'read', 'of an output, `true`: it does not come home'),
  part('adag/job/uses@size', 'workflow generator, 3.0, 3.4 to 3.6', 'read', 'size in bytes'),
  part('adag/job/uses@type', '2.0 to 3.0', 'read', '`data` and `executable`; `pattern` is refused'),
  part(
    'adag/job/uses@executable adag/job/uses@namespace adag/job/uses@version',
    '3.2 to 3.6',
    'read',
    'another program that the task needs, from `adag/executable`',
  ),
  part(
    'adag/job/uses/metadata adag/job/uses/metadata@key adag/job/uses/metadata@type',
    '3.0, 3.6',
    'read',
    'size of the file (key `size`)',
  ),
  part('adag/job/uses/pfn adag/job/uses/pfn@url adag/job/uses/pfn@site', '3.0', 'read', 'place of an input at home'),
  part(
    'adag/job/uses@register adag/job/uses@dontRegister adag/job/uses@temporaryHint',
    '1.8 to 3.6',
    'unused',
    'whether Pegasus enters the file in a catalog',
  ),
  part('adag/job/metadata adag/job/metadata@key adag/job/metadata@type', '3.0, 3.6', 'unused', information),
  part('adag/job/invoke', '3.2 to 3.6', 'noted', 'a notification is not sent'),
  part('adag/job/invoke@when', '3.2 to 3.6', 'unused', information),
  part('adag/job/execution', '3.0', 'refused', 'a job without it'),

  part('adag/child adag/child@ref adag/child/parent adag/child/parent@ref', '1.8 to 3.6', 'read', 'an edge'),
  part('adag/child/parent@edge-label', '3.2 to 3.6', 'unused', information),
  part('adag/dax adag/dag adag/adag', '3.0 to 3.6', 'refused', subWorkflow),
];
