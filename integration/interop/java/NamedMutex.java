import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Curator's mutex, which does not show the name of the node. */
final class NamedMutex extends InterProcessMutex implements NamedLock {
    NamedMutex(CuratorFramework client, String path) {
        super(client, path);
    }

    @Override
    public String node() {
        String path = path();
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Returns the path of the node by which this thread holds the mutex. */
    String path() {
        return getLockPath();
    }
}
