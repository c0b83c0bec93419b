import { useEffect, useState, type MouseEvent, type ReactNode } from 'react';
import { findTrouble, sayNotice } from '../model/live-state.ts';
import { views } from '../model/place.ts';
import { useLive, usePage } from '../page-context.tsx';

type Theme = 'auto' | 'light' | 'dark';
const nextTheme: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' };
const themeMarks: Readonly<Record<Theme, string>> = { auto: '◐', light: '○', dark: '●' };

/** The frame of all views: navigation, how the broker is, light or dark. */
export function Shell({
  note,
  children,
}: {
  readonly note: { readonly text: string; readonly isProblem: boolean } | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const hasToken = usePage().gateway.token !== '';
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <span className="brand">
          <BrandMark />
          Mutirao
        </span>
        <Navigation />
        <span className="bar-end">
          {hasToken ? <LinkLight /> : null}
          <ThemeSwitch />
        </span>
      </header>
      {hasToken ? <TroubleBanner /> : null}
      {hasToken ? <NoticeBar /> : null}
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <div className="notes" role="status" aria-live="polite">
        {note === undefined ? null : <p className={note.isProblem ? 'note problem' : 'note'}>{note.text}</p>}
      </div>
    </>
  );
}

function BrandMark(): ReactNode {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="brand-ground" />
      <g className="brand-people">
        <circle cx="9" cy="12" r="3" />
        <circle cx="16" cy="9" r="3" />
        <circle cx="23" cy="12" r="3" />
        <path d="M6 24c0-5 4-7 10-7s10 2 10 7z" />
      </g>
    </svg>
  );
}

function Navigation(): ReactNode {
  const { place, go } = usePage();
  const follow = (event: MouseEvent, view: (typeof views)[number]['name']): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go({ view });
  };
  return (
    <nav aria-label="Views">
      {views.map(({ name, path, title }) => (
        <a
          key={name}
          href={path}
          aria-current={place.view === name ? 'page' : undefined}
          onClick={(event) => follow(event, name)}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

function LinkLight(): ReactNode {
  const trouble = useLive((state) => findTrouble(state)?.isLost === true);
  const isConnecting = useLive(
    (state) => state.stream === 'connecting' || (state.link === undefined && state.stream === 'open'),
  );
  const word = trouble ? 'away' : isConnecting ? 'connecting' : 'live';
  return (
    <span className={`link-light ${word}`} title={`The broker is ${word}`}>
      <i aria-hidden="true" />
      {word}
    </span>
  );
}

function ThemeSwitch(): ReactNode {
  const [theme, setTheme] = useState<Theme>(() => (localStorage.getItem('mutirao.theme') as Theme | null) ?? 'auto');
  useEffect(() => {
    if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem('mutirao.theme', theme);
    window.dispatchEvent(new Event('mutirao-theme'));
  }, [theme]);
  return (
    <button
      type="button"
      className="quiet icon"
      onClick={() => setTheme(nextTheme[theme])}
      aria-label={`Colours: ${theme}; change to ${nextTheme[theme]}`}
      title={`Colours: ${theme}`}
    >
      {themeMarks[theme]}
    </button>
  );
}

/** A provider that restarts is away for a moment: it is said when that lasts, in milliseconds. */
const noticeAfterMs = 3000;

function NoticeBar(): ReactNode {
  const { go } = usePage();
  const text = useLive(sayNotice);
  const [shown, setShown] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setShown(text), text === '' ? 0 : noticeAfterMs);
    return () => clearTimeout(timer);
  }, [text]);
  if (text === '' || shown === '') return null;
  return (
    <p className="banner notice" role="status">
      <b aria-hidden="true">!</b>
      <span>
        {text}{' '}
        <button type="button" className="link" onClick={() => go({ view: 'now' })}>
          Show the grid
        </button>
      </span>
    </p>
  );
}

function TroubleBanner(): ReactNode {
  const text = useLive((state) => findTrouble(state)?.text);
  return text === undefined ? null : (
    <p className="banner" role="alert">
      <i className="spinner" aria-hidden="true" />
      {text}
    </p>
  );
}
