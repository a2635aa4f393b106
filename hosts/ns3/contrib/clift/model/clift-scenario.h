/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLIFT_SCENARIO_H
#define CLIFT_SCENARIO_H

#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <string>

struct clift_link;
struct clift_scenario;

namespace ns3
{

/**
 * \ingroup clift
 * \brief A scenario file of CLIFT, with changes of its keys.
 *
 * The devices of one file share it, so that a trace that serves both directions is made once.
 */
class CliftScenario : public SimpleRefCount<CliftScenario>
{
  public:
    /// The seed that stands for the one that the file names.
    static constexpr uint64_t FILE_SEED = UINT64_MAX;
    /// The hop that stands for all of them.
    static constexpr int64_t WHOLE_WAY = -1;

    /**
     * Opens a file, or gives the one that another device has open.
     *
     * \param file the scenario file
     * \param changes keys to set and points of axes to choose, "key=value;key=value"
     * \param [out] error why it cannot be, one line
     * \return the scenario, null if it cannot be
     */
    static Ptr<CliftScenario> Open(const std::string& file,
                                   const std::string& changes,
                                   std::string& error);

    /**
     * Makes a link of it.
     *
     * \param direction CLIFT_FORWARD, CLIFT_BACKWARD or CLIFT_REVERSE
     * \param hop which hop of the way, from 0, or WHOLE_WAY
     * \param seed of the random draws, or FILE_SEED
     * \param [out] error why it cannot be, one line
     * \return the link, which the caller frees; null if it cannot be
     */
    clift_link* MakeLink(uint32_t direction, int64_t hop, uint64_t seed, std::string& error) const;

    ~CliftScenario();

  private:
    /**
     * \param key what the file and its changes are found by
     * \param scenario its handle, which this object frees
     */
    CliftScenario(std::string key, clift_scenario* scenario);

    std::string m_key;          //!< File and changes.
    clift_scenario* m_scenario; //!< The library's handle.
};

} // namespace ns3

#endif /* CLIFT_SCENARIO_H */
