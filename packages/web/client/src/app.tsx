import { lazy, Suspense, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { StreamTopic } from '../../src/schema/index.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { LiveStore } from './gateway/live-store.ts';
import { getDocumentTitle, getPath, isPlacePath, readPlace, type Place, type ViewName } from './model/place.ts';
import { PageContext, type Page } from './page-context.tsx';
import { ExplainDrawer } from './parts/explain-drawer.tsx';
import { Loading } from './parts/notices.tsx';
import { Shell } from './parts/shell.tsx';
import { useSubject } from './parts/use-subject.ts';
import { NowView } from './views/now/now-view.tsx';

const AfterView = lazy(async () => ({ default: (await import('./views/after/after-view.tsx')).AfterView }));
const SubmitView = lazy(async () => ({ default: (await import('./views/submit/submit-view.tsx')).SubmitView }));
const EditorView = lazy(async () => ({ default: (await import('./views/editor/editor-view.tsx')).EditorView }));
const JobsView = lazy(async () => ({ default: (await import('./views/jobs/jobs-view.tsx')).JobsView }));
const ReservationsView = lazy(async () => ({
  default: (await import('./views/reservations/reservations-view.tsx')).ReservationsView,
}));

/** Topics that each view subscribes to. */
const topicsOf: Readonly<Record<ViewName, readonly StreamTopic[]>> = {
  now: ['summary', 'jobs', 'machines', 'providers', 'ledger', 'events'],
  after: ['summary', 'jobs', 'job'],
  editor: ['summary'],
  reservations: ['summary'],
  submit: ['summary'],
};

/** The page. */
export function App({ gateway, live }: { readonly gateway: Gateway; readonly live: LiveStore }): ReactNode {
  const [place, setPlace] = useState<Place>(() => readPlace(window.location.pathname));
  const [note, setNote] = useState<{ readonly text: string; readonly isProblem: boolean; readonly number: number }>();
  const { subject, explain, close, forget } = useSubject();
  useEffect(() => {
    const back = (): void => setPlace(readPlace(window.location.pathname));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  useEffect(() => {
    const look = (): void => live.setVisible(!document.hidden);
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [live]);
  const topics =
    place.view === 'after' && place.jobId === undefined ? (['summary', 'jobs'] as const) : topicsOf[place.view];
  useEffect(() => {
    // Without a token the stream would be refused again and again.
    if (gateway.token !== '') live.watch(topics, place.jobId);
  }, [gateway, live, topics, place.jobId]);
  useEffect(() => {
    document.title = getDocumentTitle(place, subject);
  }, [place, subject]);
  const go = useCallback(
    (next: Place) => {
      window.history.pushState(null, '', getPath(next));
      setPlace(next);
      forget();
    },
    [forget],
  );
  const say = useCallback(
    (text: string, isProblem = false) => setNote((old) => ({ text, isProblem, number: (old?.number ?? 0) + 1 })),
    [],
  );
  useEffect(() => {
    const timer = note === undefined ? undefined : setTimeout(() => setNote(undefined), note.isProblem ? 12_000 : 5000);
    return () => clearTimeout(timer);
  }, [note]);
  useEffect(() => {
    const { pathname } = window.location;
    if (isPlacePath(pathname)) return;
    window.history.replaceState(null, '', getPath(readPlace(pathname)));
    say(`There is no page at ${pathname}.`, true);
  }, [say]);
  const page = useMemo<Page>(
    () => ({ gateway, live, place, go, explain, say }),
    [gateway, live, place, go, explain, say],
  );
  return (
    <PageContext value={page}>
      <Shell note={note}>
        {gateway.token === '' ? (
          <NoToken />
        ) : (
          <Suspense fallback={<Loading what="the view" />}>
            <View place={place} />
          </Suspense>
        )}
      </Shell>
      {subject === undefined ? null : <ExplainDrawer subject={subject} close={close} />}
    </PageContext>
  );
}

function View({ place }: { readonly place: Place }): ReactNode {
  switch (place.view) {
    case 'now':
      return <NowView />;
    case 'after':
      return place.jobId === undefined ? <JobsView /> : <AfterView jobId={place.jobId} />;
    case 'editor':
      return <EditorView />;
    case 'reservations':
      return <ReservationsView />;
    case 'submit':
      return <SubmitView />;
  }
}

function NoToken(): ReactNode {
  return (
    <div className="view">
      <section className="panel empty">
        <h1>This address has no access token</h1>
        <p>
          The page shows a grid only to its user. Open the address that <code>mutirao web</code> prints.
        </p>
      </section>
    </div>
  );
}
