//! Free memory as Linux reports it: of the machine, of the control groups of the process, and
//! within the address-space limit of the process.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that the process can still allocate: the minimum of the memory available on the machine,
/// of the remainder of its control groups (version 1 or 2), and of the remainder of its
/// address-space limit (`ulimit -v`). `None` without a readable `/proc`.
///
/// ```
/// assert!(clift::budget::free_memory().is_none_or(|bytes| bytes > 0));
/// ```
pub fn free_memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = [of_machine(), of_addresses(), of_groups(&groups, Path::new("/sys/fs/cgroup"))];
    left.into_iter().flatten().min()
}

/// Memory that the kernel can provide without swapping.
fn of_machine() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Remainder of the address-space limit, if one is set.
fn of_addresses() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(most.saturating_sub(used))
}

/// Remainder of the control groups listed in `/proc/self/cgroup` and of their parents.
fn of_groups(lines: &str, root: &Path) -> Option<u64> {
    let left = lines.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        // Version 2 has one line, without names of controllers.
        let (folder, names) = match controllers {
            "" => (root.to_owned(), ["memory.max", "memory.current"]),
            some if some.split(',').any(|name| name == "memory") => {
                (root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes"])
            }
            _ => return None,
        };
        let group = group.trim_start_matches('/');
        // In a container the mount may start at the group itself.
        let groups = Path::new(group).ancestors().map(|group| folder.join(group));
        groups.filter_map(|group| of_group(&group, names)).min()
    });
    left.min()
}

fn of_group(folder: &Path, [most, used]: [&str; 2]) -> Option<u64> {
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let (most, used) = (number(folder.join(most))?, number(folder.join(used))?);
    // The kernel reclaims cached file pages first, so they count as free.
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        ["inactive_file", "total_inactive_file"].contains(&name).then(|| bytes.parse().ok())?
    });
    Some(most.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn the_smallest_remainder_of_the_groups_counts() {
        let root = std::env::temp_dir().join(format!("clift-groups-{}", std::process::id()));
        let (outer, inner) = (root.join("a"), root.join("a/b"));
        write(&outer, &[("memory.max", "1000\n"), ("memory.current", "700\n")]);
        write(&outer, &[("memory.stat", "anon 5\ninactive_file 100\n")]);
        write(&inner, &[("memory.max", "max\n"), ("memory.current", "300\n")]);
        assert_eq!(of_groups("0::/a/b\n", &root), Some(400));
        let old = root.join("memory/c");
        let (most, used) = ("memory.limit_in_bytes", "memory.usage_in_bytes");
        write(&old, &[(most, "90\n"), (used, "40\n")]);
        assert_eq!(of_groups("9:cpu:/x\n4:memory:/c\n0::/a/b\n", &root), Some(50));
        assert_eq!(of_groups("9:cpu:/x\n", &root), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_reports_free_memory() {
        assert!(free_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
