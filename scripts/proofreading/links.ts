// Links between our own files, and mentions of pages in other files, that lead nowhere.
import { posix } from 'node:path';
import type { MarkdownPage } from './markdown-page.ts';
import type { Finding } from './rules.ts';

/** What links may lead to. */
export interface LinkTargets {
  readonly pages: ReadonlyMap<string, MarkdownPage>;
  /** Whether the repository has this file or folder. */
  exists(path: string): boolean;
}

const isElsewhere = (target: string): boolean => /^[a-z][a-z0-9+.-]*:|^\/\//i.test(target);

/** Says why a link from `file` leads nowhere; undefined when it leads somewhere. */
function describeDeadLink(file: string, target: string, targets: LinkTargets): string | undefined {
  const [path = '', anchor] = target.split('#', 2);
  const place = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), decodeURIComponent(path)));
  if (path !== '' && !targets.exists(place)) return `there is no ${place}`;
  const page = targets.pages.get(place);
  if (anchor === undefined || anchor === '' || page === undefined || page.anchors.has(decodeURIComponent(anchor)))
    return undefined;
  return `${place} has no heading for #${anchor}`;
}

export function findDeadLinks(page: MarkdownPage, targets: LinkTargets): Finding[] {
  return page.links
    .filter(({ target }) => !isElsewhere(target))
    .flatMap(({ target, line }) => {
      const reason = describeDeadLink(page.file, target, targets);
      return reason === undefined
        ? []
        : [{ file: page.file, line, rule: 'dead link', message: `the link to ${target} is dead: ${reason}` }];
    });
}

/** Words in angle brackets that a reader does not see, since they are read as tags of HTML. */
export function findTags({ file, tags }: MarkdownPage): Finding[] {
  return tags.map(({ target, line }) => ({
    file,
    line,
    rule: 'html',
    message: `${target} is read as a tag of HTML: write it as code, or with a backslash before it`,
  }));
}

/** Pages of docs/ that a source, a script or a page names in its text and that are not there. */
export function findDeadMentions(file: string, text: string, targets: LinkTargets): Finding[] {
  return [...text.matchAll(/(?<![\w./-])docs\/[\w./-]+\.md\b/g)]
    .filter(([path]) => !targets.exists(path))
    .map((match) => ({
      file,
      line: text.slice(0, match.index).split('\n').length,
      rule: 'dead link',
      message: `it names ${match[0]}, which does not exist`,
    }));
}
