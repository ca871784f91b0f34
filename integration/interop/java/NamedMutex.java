import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Curator's mutex, which does not show the name of the node. */
final class NamedMutex extends InterProcessMutex {
    NamedMutex(CuratorFramework client, String path) {
        super(client, path);
    }

    /** Returns the name of the node by which this thread holds the mutex. */
    String node() {
        String path = getLockPath();
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
