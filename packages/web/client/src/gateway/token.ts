const place = 'mutirao.token';

/**
 * Takes the token from the address by which the page was opened, keeps it for this tab and takes it off the address, so
 * that it is neither copied nor kept in the history.
 *
 * @returns empty where the page was opened without one.
 */
export function takeToken(): string {
  const { hash, search, pathname } = window.location;
  const fromHash = new URLSearchParams(hash.replace(/^#/, ''));
  const query = new URLSearchParams(search);
  const token = fromHash.get('token') ?? query.get('token');
  if (token === null) return sessionStorage.getItem(place) ?? '';
  sessionStorage.setItem(place, token);
  query.delete('token');
  const left = query.toString();
  window.history.replaceState(null, '', pathname + (left === '' ? '' : `?${left}`));
  return token;
}

/** How long a new tab waits for the token of another, in milliseconds. */
const answerWaitMs = 500;

/**
 * Asks the other tabs of this page for their token, so that a link that is opened in a new tab works.
 *
 * @returns empty where no other tab has one.
 */
export function askOtherTabs(): Promise<string> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(place);
    const end = (token: string): void => {
      clearTimeout(timer);
      channel.close();
      if (token !== '') sessionStorage.setItem(place, token);
      resolve(token);
    };
    const timer = setTimeout(() => end(''), answerWaitMs);
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      if (data.kind === 'token') end(data.token);
    };
    channel.postMessage({ kind: 'tokenWanted' } satisfies TabMessage);
  });
}

/** Gives this tab's token to new tabs. Only pages of the same origin can ask. */
export function answerOtherTabs(token: string): void {
  const channel = new BroadcastChannel(place);
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'tokenWanted') channel.postMessage({ kind: 'token', token } satisfies TabMessage);
  };
}

type TabMessage = { readonly kind: 'tokenWanted' } | { readonly kind: 'token'; readonly token: string };
