import { getSubjectTitle, type Subject } from './subject.ts';

/** The views of the page, in the order of the navigation. */
export const views = [
  { name: 'now', path: '/', title: 'Now' },
  { name: 'after', path: '/jobs', title: 'Jobs' },
  { name: 'editor', path: '/workflow', title: 'Workflow' },
  { name: 'reservations', path: '/reservations', title: 'Reservations' },
  { name: 'submit', path: '/submit', title: 'Submit' },
] as const;
export type ViewName = (typeof views)[number]['name'];

/** Where the user is on the page. */
export interface Place {
  readonly view: ViewName;
  readonly jobId?: number;
}

/** The place that a path names; an unknown one is Now. */
export function readPlace(path: string): Place {
  const [, first = '', second = ''] = path.split('/');
  const view = views.find((one) => one.path === `/${first}`) ?? views[0];
  return view.name === 'after' && /^[1-9]\d{0,14}$/.test(second)
    ? { view: 'after', jobId: Number(second) }
    : { view: view.name };
}

/** Whether a path names a place; any other leads to Now. */
export function isPlacePath(path: string): boolean {
  return getPath(readPlace(path)) === (path.length > 1 ? path.replace(/\/$/, '') : path);
}

/** The title of the tab while a place is shown, with a drawer over it or without. */
export function getDocumentTitle({ view, jobId }: Place, subject?: Subject): string {
  const title = jobId === undefined ? views.find(({ name }) => name === view)?.title : `Job ${jobId}`;
  return `${subject === undefined ? (title ?? '') : getSubjectTitle(subject)} · Mutirao`;
}

/** The path of a place. */
export function getPath({ view, jobId }: Place): string {
  const { path } = views.find(({ name }) => name === view) ?? views[0];
  return jobId === undefined ? path : `${path}/${jobId}`;
}
