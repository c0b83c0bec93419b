/**
 * Defines the shell function `remove_tree PATH`, for hosts without Mutirao: as `rm -rf`, and also where
 * modes keep us out, but what is mounted at the
 * path or below it stays, with the folders above it. `rm` alone would delete what is mounted; its `--one-file-system`
 * knows no bind mounts of the same device, and is not everywhere.
 *
 * Fails where something stays, and says on standard error what and why. Asks for no more than what POSIX has, and a
 * /proc or a `mount` that lists.
 */
export const removalScript = `
# Says "at" where something is mounted at the true path $1, "below" where only below it, "unknown" where nobody knows.
mounts_of() {
  found=
  if [ -r /proc/self/mountinfo ]; then
    # Blanks, tabs and backslashes are octal there.
    escaped=$(printf '%s\\n' "$1" | sed 's/\\\\/\\\\134/g; s/ /\\\\040/g; s/\t/\\\\011/g')
    while read -r _ _ _ _ point _; do
      case $point in "$escaped") found=at; break ;; "$escaped"/*) found=below ;; esac
    done </proc/self/mountinfo
  else
    listed=$(mount 2>/dev/null)
    case $listed in '') found=unknown ;; *" on $1 "*) found=at ;; *" on $1/"*) found=below ;; esac
  fi
  echo "$found"
}
remove_tree() {
  [ -e "$1" ] || [ -L "$1" ] || return 0
  if [ -d "$1" ] && [ ! -L "$1" ]; then
    chmod u+rwx "$1" 2>/dev/null
    case $(mounts_of "$(cd "$1" && pwd -P)") in
      '') chmod -R u+rwx "$1" 2>/dev/null ;;
      below) for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do remove_tree "$entry"; done; return 1 ;;
      *) echo "$1: something is mounted there, and may not be ours" >&2; return 1 ;;
    esac
  fi
  rm -rf -- "$1"
}
`;
