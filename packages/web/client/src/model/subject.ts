/** The subjects that the drawer can explain. */
export type Subject =
  | { readonly kind: 'job'; readonly jobId: number }
  | { readonly kind: 'task'; readonly jobId: number; readonly taskIndex: number }
  | { readonly kind: 'request'; readonly request: string }
  | { readonly kind: 'machine'; readonly machineId: string };

/** The part of an address, with its #, that opens the drawer of a subject. */
export function getSubjectHash(subject: Subject): string {
  switch (subject.kind) {
    case 'job':
      return `#why=${subject.jobId}`;
    case 'task':
      return `#task=${subject.jobId}/${subject.taskIndex}`;
    case 'request':
      return `#request=${encodeURIComponent(subject.request)}`;
    case 'machine':
      return `#machine=${encodeURIComponent(subject.machineId)}`;
  }
}

/** The subject that an address names after its #; undefined if it names none. */
export function readSubject(hash: string): Subject | undefined {
  const [kind = '', text = ''] = hash.replace(/^#/, '').split('=', 2);
  const name = decodeName(text).slice(0, 512);
  if (name === '') return undefined;
  switch (kind) {
    case 'request':
      return { kind, request: name };
    case 'machine':
      return { kind, machineId: name };
    case 'why':
      return /^[1-9]\d{0,14}$/.test(name) ? { kind: 'job', jobId: Number(name) } : undefined;
    case 'task':
      return readTask(name);
    default:
      return undefined;
  }
}

function readTask(name: string): Subject | undefined {
  const [, jobId, taskIndex] = /^([1-9]\d{0,14})\/(\d{1,9})$/.exec(name) ?? [];
  return jobId === undefined ? undefined : { kind: 'task', jobId: Number(jobId), taskIndex: Number(taskIndex) };
}

/** The title of the drawer of a subject. */
export function getSubjectTitle(subject: Subject): string {
  switch (subject.kind) {
    case 'job':
      return `Job ${subject.jobId}`;
    case 'task':
      return `Task ${subject.taskIndex} of job ${subject.jobId}`;
    case 'request':
      return `Request ${subject.request}`;
    case 'machine':
      return `Machine ${subject.machineId}`;
  }
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
