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
